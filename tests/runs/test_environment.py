"""What a run is said to have run on."""

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


def test_outside_a_repository_there_is_no_commit(tmp_path, monkeypatch):
    monkeypatch.setattr("lnexp.git.ROOT", tmp_path)
    git_state.cache_clear()
    assert git_state() == {"commit": None, "dirty": None}
    monkeypatch.undo()
    assert git_state() == {"commit": None, "dirty": None}, "of the code that this process has"
    git_state.cache_clear()
