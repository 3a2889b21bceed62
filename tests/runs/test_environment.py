"""What a run is said to have run on."""

import pytest

from lnexp.runs.environment import continued, environment, git_state, other_code


@pytest.mark.parametrize(("device", "has"), [("cpu", False), ("NVIDIA H100 80GB HBM3", True)])
def test_a_gpus_libraries_are_recorded(device, has):
    found = environment(device, {})
    assert found["device"] == device
    assert ({"cuda", "cudnn"} <= found.keys()) is has


@pytest.mark.parametrize(
    ("earlier", "expected"),
    [
        ({}, None),
        ({"commit": None}, None),
        ({"commit": "c"}, None),
        ({"commit": "b"}, ["b"]),
        ({"commit": "b", "earlier": ["a", "c"]}, ["a", "b"]),
    ],
)
def test_a_resumed_run_keeps_the_commits_that_it_was_trained_at(earlier, expected):
    found = continued({"git": {"commit": "c", "dirty": False}, "cpu": "new"}, {"git": earlier, "cpu": "old"})
    assert found["git"].get("earlier") == expected
    assert (found["git"]["commit"], found["cpu"]) == ("c", "new")


def test_the_code_that_trained_a_run_is_compared_with_what_is_here():
    now = environment("cpu", {})
    assert other_code(now) == ""
    assert other_code({}) == "", "nothing is known"
    assert other_code(now | {"code": "0", "git": {"commit": "a" * 40}}) == "lnexp at commit aaaaaaaaaa"
    assert other_code(now | {"packages": {"torch": "2.6.0"}}) == "torch 2.6.0"


def test_records_without_a_digest_of_the_code_are_compared_by_commit():
    old = {"git": {"commit": "b" * 40}}
    assert other_code(old) == "lnexp at commit bbbbbbbbbb"
    assert other_code({"git": git_state()}) == ""
