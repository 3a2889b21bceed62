"""The figure by checkpoint has a line a row of arms, from the epochs of pre-training to the accuracy."""

from dataclasses import replace

import pandas as pd
import pytest

from lnexp.figures.by_checkpoint import by_checkpoint
from lnexp.figures.line_styles import PLACEMENTS
from lnexp.recipes.load import load_recipe

RECIPE = load_recipe("fig5_finetune")
ROWS = ["Post-LN with warm-up, η", "Pre-LN w/o warm-up, 3η", "Pre-LN w/o warm-up, η"]


def runs() -> pd.DataFrame:
    epochs = {"scratch": 0, "two_thirds": 4, "third": 2, "whole": 6}  # the longer of two endings first
    rows = (
        {
            "arm": arm,
            "seed": seed,
            "start_epoch": next(epoch for name, epoch in epochs.items() if arm.endswith(name)),
            "last_valid_accuracy": 0.5 + seed / 100,
            "test_accuracy": 0.6,
            "valid_majority": 0.5,
            "test_majority": 0.49,
        }
        for arm in RECIPE.arms
        for seed in (21, 22)
    )
    return pd.DataFrame(rows)


def test_a_line_a_row_and_the_most_frequent_class_beside_them():
    drawing = by_checkpoint(RECIPE, runs(), "scope")
    ((valid, test),) = drawing.rows
    assert [line.label for line in valid.lines] == [*ROWS, "most frequent class"]
    post_ln, high, low, majority = valid.lines
    assert (post_ln.x, high.x, low.x) == ([0, 2, 4, 6], [0, 2, 4, 6], [2, 4, 6])
    assert post_ln.mean == pytest.approx([0.715] * 4)
    assert (post_ln.low[0], post_ln.high[0]) == (pytest.approx(0.71), pytest.approx(0.72))
    assert set(majority.mean) == {0.5}
    assert set(test.lines[-1].mean) == {0.49}
    assert post_ln.style.colour == PLACEMENTS["post_ln"]
    assert high.style.colour == low.style.colour == PLACEMENTS["pre_ln"]
    assert high.style != low.style
    assert valid.ticks == (0, 2, 4, 6)


def test_a_table_of_runs_that_start_from_no_checkpoint_has_no_such_figure():
    assert by_checkpoint(load_recipe("fig5"), runs().drop(columns="start_epoch"), "scope") is None
    assert by_checkpoint(RECIPE, runs()[:0], "scope") is None


def test_arms_of_a_row_that_differ_in_something_else_are_not_one_line():
    one_row = RECIPE.with_arms({name: replace(arm, row="") for name, arm in RECIPE.arms.items()})
    assert by_checkpoint(one_row, runs(), "scope") is None
