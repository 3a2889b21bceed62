"""The run folders at places that people type."""

import pytest

from lnexp.errors import UserError
from lnexp.runs.folder import RunFolder
from lnexp.runs.places import folders_of, folders_of_sweep
from lnexp.runs.sweep import Sweep, SweepRun


@pytest.fixture
def make(tmp_path):
    """Makes the folder of a run, which has a config."""

    def run(name):
        path = tmp_path / "runs" / "adhoc" / name
        path.mkdir(parents=True)
        (path / "config.yaml").touch()
        return path

    return run


def test_folders_patterns_and_runs_are_places(make, tmp_path, monkeypatch):
    one, two = make("pre_ln-s1-0123abcd"), make("post_ln-s1-89abcdef")
    monkeypatch.chdir(tmp_path)
    assert folders_of([str(one)], tmp_path) == [one]
    assert folders_of(["runs/adhoc/pre_ln-*"], tmp_path) == [one]
    assert folders_of(["adhoc/post_ln-*"], tmp_path / "runs") == [two]
    assert set(folders_of(["runs", str(one)], tmp_path / "runs")) == {one, two}
    elsewhere = tmp_path / "elsewhere"
    assert set(folders_of(["runs"], elsewhere)) == {one, two}, "relative to the folder that the command is typed in"
    with pytest.raises(UserError, match="runs/nothing: no runs there"):
        folders_of(["runs/nothing"], tmp_path / "runs")


def test_a_sweep_is_found_by_its_title(make, tmp_path):
    path = make("pre_ln-s1-0123abcd")
    runs = tmp_path / "runs"
    member = SweepRun(RunFolder(path).identity, "pre_ln", 1, 1)
    Sweep("model=pre_ln,post_ln", [member, SweepRun("00000000", "missing", 1, 1)]).save(runs)
    found = ("model=pre_ln,post_ln", [path])
    assert folders_of_sweep("pre_ln,post", runs) == folders_of_sweep("last", runs) == found
    with pytest.raises(UserError, match="lr_max=1,2: no such sweep"):
        folders_of_sweep("lr_max=1,2", runs)


def test_the_config_that_a_tracker_keeps_within_a_run_is_no_run(make, tmp_path):
    path = make("pre_ln-s1-0123abcd")
    for within in ("wandb/run-1/files", "checkpoints"):  # one sorts before config.yaml, and one after it
        (path / within).mkdir(parents=True)
        (path / within / "config.yaml").write_text("lr_max: {value: 0.002}")
    assert folders_of(["runs"], tmp_path / "runs", here=tmp_path) == [path]


def test_a_pattern_that_is_none_is_refused_in_a_line(tmp_path):
    with pytest.raises(UserError, match=r"runs/x\*\*: Invalid pattern"):
        folders_of(["runs/x**"], tmp_path)
