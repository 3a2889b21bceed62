"""What a run is said to have run on."""

import os

import pytest

from lnexp.runs.environment import continued, environment, git_state


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
    now = {"git": {"commit": "c", "dirty": False}, "cpu": "new", "code": {}}
    found = continued(now, {"git": earlier, "cpu": "old"})
    assert found["git"].get("earlier") == expected
    assert (found["git"]["commit"], found["cpu"]) == ("c", "new")


def test_a_resumed_run_keeps_the_digests_of_the_code_that_it_was_trained_by():
    now = {"git": {"commit": "c"}, "code": {"a.py": "3"}}
    first = {"git": {"commit": "c"}, "code": {"a.py": "1"}}
    second = continued(now | {"code": {"a.py": "2"}}, first)
    assert continued(now, second)["earlier_code"] == [{"a.py": "1"}, {"a.py": "2"}]
    assert "earlier_code" not in continued(now, {"git": {"commit": "c"}, "code": now["code"]})
    assert continued(now, {})["earlier_code"] == [{}], "nobody knows it, so it is other code"


def test_the_instruction_set_is_recorded_that_torch_has_kernels_for(monkeypatch):
    monkeypatch.setattr("torch.backends.cpu.get_cpu_capability", lambda: "AVX512")
    assert environment("cpu", {})["instructions"] == "AVX512"


@pytest.mark.parametrize(("kills", "is_known"), [(0, True), (1, True), (3, False)])
def test_the_commit_is_known_where_git_was_killed_once(tmp_path, monkeypatch, kills, is_known):
    dies_at_first = tmp_path / "git"
    dies_at_first.write_text(
        "#!/bin/sh\n"
        f'echo >> "{tmp_path}/$3"\n'
        f'[ "$(wc -l < "{tmp_path}/$3")" -gt {kills} ] || kill -9 $$\n'
        'echo "said by $3"\n'
    )
    dies_at_first.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=os.pathsep)
    expected = {"commit": "said by rev-parse", "dirty": True} if is_known else {"commit": None, "dirty": None}
    assert git_state() == expected


def test_outside_a_repository_there_is_no_commit(tmp_path, monkeypatch):
    monkeypatch.setattr("lnexp.runs.environment.ROOT", tmp_path)
    assert git_state() == {"commit": None, "dirty": None}
    monkeypatch.setenv("PATH", str(tmp_path))
    assert git_state() == {"commit": None, "dirty": None}, "nor is there one without git"
