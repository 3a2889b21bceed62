"""What the runs behind published results cost."""

import shutil

import pandas as pd
import pytest

from lnexp.paths import ROOT
from lnexp.results.pages.published_folder import PublishedFolder
from lnexp.results.pages.training_cost import cost_of, cost_with_seeds

RESULTS = ROOT / "results"
PLACE = "medium/multi30k/fig4ab"


def test_runs_that_recipes_share_cost_once():
    toy = RESULTS / "small" / "toy"
    alone, again = PublishedFolder(toy / "fig2a"), PublishedFolder(toy / "fig4ab")
    assert cost_of([alone]).runs == 40
    assert cost_of([alone, alone]) == cost_of([alone])
    both = cost_of([alone, again])
    assert both.runs == len(alone.core_seconds.keys() | again.core_seconds.keys()) < 90
    assert cost_with_seeds([alone, again], 10) == pytest.approx(both)
    assert cost_with_seeds([alone, again], 5).core_hours == pytest.approx(both.core_hours / 2)


def test_runs_that_nobody_made_cost_nothing(tmp_path):
    shutil.copytree(RESULTS / PLACE, tmp_path / PLACE)
    whole = cost_of([PublishedFolder(tmp_path / PLACE)])
    runs = pd.read_csv(tmp_path / PLACE / "runs.csv")
    last = runs["seed"] == 26
    runs.loc[last, ["status", "core_seconds"]] = ["not run", 0.0]
    runs.to_csv(tmp_path / PLACE / "runs.csv", index=False)
    assert cost_of([PublishedFolder(tmp_path / PLACE)]).runs == whole.runs - last.sum()


def test_runs_without_core_seconds_are_left_out_of_the_cost(tmp_path):
    shutil.copytree(RESULTS / "small" / "toy" / "fig2a", tmp_path / "fig2a")
    runs = pd.read_csv(tmp_path / "fig2a" / "runs.csv")
    kept = runs.core_seconds[4:].sum()
    runs.loc[:3, "core_seconds"] = None
    runs.to_csv(tmp_path / "fig2a" / "runs.csv", index=False)
    cost = cost_of([PublishedFolder(tmp_path / "fig2a")])
    assert (cost.runs, cost.core_hours) == (36, pytest.approx(kept / 3600))


def test_results_that_do_not_say_what_they_cost_cost_nothing(tmp_path):
    runs = pd.read_csv(RESULTS / "small" / "toy" / "fig2a" / "runs.csv")
    shutil.copytree(RESULTS / "small" / "toy" / "fig2a", tmp_path / "fig2a")
    runs.drop(columns="core_seconds").to_csv(tmp_path / "fig2a" / "runs.csv", index=False)
    assert cost_of([PublishedFolder(tmp_path / "fig2a")]) == (0, 0)
    assert cost_of([PublishedFolder(RESULTS / "theory" / "gaussian" / "theory_theorem1")]) == (0, 0)


def test_folders_of_other_seeds_are_counted_apart(tmp_path):
    """Which of their runs recipes would share cannot be seen then."""
    toy = RESULTS / "small" / "toy"
    shutil.copytree(toy / "fig2a", tmp_path / "fig2a")
    runs = pd.read_csv(toy / "fig2a" / "runs.csv")
    runs.assign(seed=runs.seed + 1000).to_csv(tmp_path / "fig2a" / "runs.csv", index=False)
    folders = [PublishedFolder(toy / "fig2a"), PublishedFolder(tmp_path / "fig2a")]
    assert cost_with_seeds(folders, 3).runs == 2 * cost_with_seeds(folders[:1], 3).runs == 24
    assert cost_with_seeds(folders, 3).core_hours == pytest.approx(2 * cost_with_seeds(folders[:1], 3).core_hours)
