"""The rows of a figure by arm on the page."""

import math

import pandas as pd
import pytest

from lnexp.recipes.load import load_recipe
from lnexp.report.dots import dot_rows


def _runs(*runs: tuple) -> pd.DataFrame:
    """Runs of arms with final nlls; they finished where nothing else is said."""
    rows = [(*run, "finished")[:3] for run in runs]
    return pd.DataFrame(rows, columns=["arm", "last_valid_nll", "status"]).astype({"last_valid_nll": float})


def test_the_best_arm_is_on_top_and_places_are_on_one_log_scale():
    recipe = load_recipe("interventions")
    runs = _runs(("none", 4.0), ("none", 1.0), ("warmup", 0.25), ("warmup", 0.25))
    first, last = dot_rows(recipe, runs)
    assert [first.label, last.label] == [recipe.arms["warmup"].label, recipe.arms["none"].label]
    assert first.places == [0, 0]
    assert last.places == pytest.approx([1, 0.5]), "1 is as far from 0.25 as from 4"
    assert (last.mean, last.least, last.greatest) == (2.5, 1.0, 4.0)
    assert last.middle == pytest.approx(math.log(2.5 / 0.25) / math.log(16))
    assert last.style.marker == "hollow" != first.style.marker


def test_runs_that_are_not_over_or_have_no_loss_are_left_out():
    recipe = load_recipe("interventions")
    rows = dot_rows(recipe, _runs(("none", 4.0), ("none", 1.0, "running"), ("warmup", None)))
    assert [(row.label, row.places) for row in rows] == [(recipe.arms["none"].label, [0.5])]
    assert dot_rows(recipe, _runs()) == []


def test_runs_that_diverged_are_counted_and_an_arm_of_them_alone_is_the_worst():
    recipe = load_recipe("interventions")
    diverged = [("warmup", 0.1, "diverged"), ("warmup", None, "diverged"), ("none", 0.2, "diverged")]
    first, last = dot_rows(recipe, _runs(*diverged, ("none", 4.0)))
    assert (first.label, first.places) == (f"{recipe.arms['none'].label} (1 of 2 diverged)", [0.5])
    assert (last.label, last.places) == (f"{recipe.arms['warmup'].label} (2 of 2 diverged)", [])


def test_curves_that_can_be_told_apart_need_none():
    assert dot_rows(load_recipe("fig2a"), _runs(("warmup_low", 1.0))) == []
