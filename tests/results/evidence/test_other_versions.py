"""Runs of older numerics are collected when asked for, and named when not."""

from dataclasses import replace

import pytest

from lnexp.configuration import compose
from lnexp.numerics import NUMERICS
from lnexp.recipes.load import load_recipe
from lnexp.results.evidence.collect import collect
from lnexp.results.evidence.other_versions import other_versions
from lnexp.runs.folder import RunFolder
from lnexp.runs.identity import identity, readable_name

pytestmark = pytest.mark.slow

OLDER = NUMERICS - 1
FIG2A = load_recipe("fig2a")
SAID = [f"runs of version {OLDER} of the numerics are here, too; --numerics={OLDER} takes them"]


@pytest.fixture
def overrides(tmp_path):
    return [f"runs_dir={tmp_path}", "n_seeds=1", "arms=warmup_*"]


@pytest.fixture
def older(overrides) -> RunFolder:
    """The folder of an arm of fig2a that was trained with the version before today's."""
    job = next(run.job for run in collect(FIG2A, overrides))
    cfg = compose([*overrides, *job.overrides])
    folder = RunFolder(RunFolder.of(cfg).path.with_name(f"{readable_name(cfg)}-{identity(cfg, OLDER)}"))
    folder.path.mkdir(parents=True)
    folder.write_environment({"cpu": "a processor", "device": "cpu", "data": {}, "git": {}, "numerics": OLDER})
    folder.set_status("running")
    return folder


def said(overrides: list[str], numerics: int = NUMERICS, recipe=FIG2A) -> list[str]:
    return other_versions(recipe, overrides, collect(recipe, overrides, numerics), numerics)


def test_runs_of_another_version_are_missing_and_said(overrides, older):
    assert {run.state for run in collect(FIG2A, overrides)} == {"not run"}
    assert said(overrides) == SAID


def test_they_are_collected_by_their_version(overrides, older):
    found = collect(FIG2A, overrides, OLDER)
    assert [run.path for run in found if run.path] == [older.path]
    assert said(overrides, OLDER) == []


def test_those_of_another_profile_are_not_said(overrides, older):
    assert said([*overrides, "profile=paper", "data=toy"]) == []


def test_those_that_were_trained_for_another_recipe_are_said(overrides, older):
    """Recipes share runs, which lie where they were first trained."""
    shared = [option for option in overrides if not option.startswith("arms=")]
    assert said([*shared, "arms=post_ln_adam_warmup"], recipe=load_recipe("fig4ab")) == SAID


def test_nothing_is_said_where_all_runs_are_here_or_published(overrides, older):
    runs = collect(FIG2A, overrides)
    assert other_versions(FIG2A, overrides, [replace(run, state="finished") for run in runs], NUMERICS) == []
    assert other_versions(FIG2A, overrides, [replace(run, path=older.path) for run in runs], NUMERICS) == []


def test_recipes_that_compare_with_baselines_are_searched_too(tmp_path):
    """Only one arm is looked for, which may be no baseline."""
    recipe, words = load_recipe("interventions"), [f"runs_dir={tmp_path}", "n_seeds=1"]
    assert recipe.baselines
    assert said([*words, "arms=layer_rates"], recipe=recipe) == said(words, recipe=recipe) == []
