"""Runs of older numerics are collected when asked for, and named when not."""

import pytest

from lnexp.configuration import compose
from lnexp.numerics import NUMERICS
from lnexp.recipes.load import load_recipe
from lnexp.results.evidence.collect import collect
from lnexp.results.evidence.other_versions import other_versions
from lnexp.runs.folder import RunFolder
from lnexp.runs.identity import identity, readable_name

OLDER = NUMERICS - 1


@pytest.fixture
def overrides(tmp_path):
    return [f"runs_dir={tmp_path}", "n_seeds=1", "arms=warmup_*"]


@pytest.fixture
def older(overrides) -> RunFolder:
    """The folder of an arm of fig2a that was trained with the version before today's."""
    job = next(run.job for run in collect(load_recipe("fig2a"), overrides))
    cfg = compose([*overrides, *job.overrides])
    folder = RunFolder(RunFolder.of(cfg).path.with_name(f"{readable_name(cfg)}-{identity(cfg, OLDER)}"))
    folder.path.mkdir(parents=True)
    folder.write_environment({"cpu": "a processor", "device": "cpu", "data": {}, "git": {}, "numerics": OLDER})
    folder.set_status("running")
    return folder


def test_runs_of_another_version_are_missing_and_said(overrides, older):
    found = collect(load_recipe("fig2a"), overrides)
    assert {run.state for run in found} == {"not run"}
    assert other_versions(found, NUMERICS) == [
        f"1 run here is of version {OLDER} of the numerics; see --numerics={OLDER}"
    ]


def test_they_are_collected_by_their_version(overrides, older):
    found = collect(load_recipe("fig2a"), overrides, OLDER)
    assert [run.path for run in found if run.path] == [older.path]
    assert other_versions(found, OLDER) == []


def test_what_cannot_be_read_says_no_version(overrides, older):
    (older.path / "environment.json").write_text("nonsense")
    assert other_versions(collect(load_recipe("fig2a"), overrides), NUMERICS) == []
    (older.path / "environment.json").unlink()
    assert other_versions(collect(load_recipe("fig2a"), overrides), NUMERICS) == []


def test_nothing_is_said_where_all_runs_are_here(overrides, older):
    found = [run for run in collect(load_recipe("fig2a"), overrides, OLDER) if run.path]
    assert other_versions(found, NUMERICS) == []
