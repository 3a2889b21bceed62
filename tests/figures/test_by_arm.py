"""The figure of a recipe of many arms has every run, the best arm on top."""

import pandas as pd
import pytest
from matplotlib.colors import to_hex

from lnexp.figures.by_arm import by_arm, draw_by_arm
from lnexp.figures.line_styles import BLUE, ORANGE
from lnexp.figures.names import BY_ARM, drawn_by_arm
from lnexp.recipes.load import load_recipe
from lnexp.recipes.recipe import Recipe


@pytest.fixture
def recipe() -> Recipe:
    return load_recipe("interventions")


@pytest.fixture
def runs(recipe) -> pd.DataFrame:
    """Two runs an arm, the later arms better."""
    return pd.DataFrame(
        [
            {"arm": arm, "seed": seed, "status": "finished", "last_valid_nll": 2 / (1 + number) + seed / 1000}
            for number, arm in enumerate(recipe.arms)
            for seed in (51, 52)
        ]
    )


def test_every_run_is_a_dot_in_the_row_of_its_arm_the_best_on_top(recipe, runs):
    (axis,) = by_arm(recipe, runs, "scope").axes
    names = [label.get_text() for label in axis.get_yticklabels()]
    assert names == [arm.label for arm in recipe.arms.values()]
    dots = [line for line in axis.get_lines() if line.get_marker() != "|"]
    for row, (arm, line) in enumerate(zip(recipe.arms, dots, strict=True)):
        assert list(line.get_ydata()) == [row, row]
        assert list(line.get_xdata()) == list(runs[runs.arm == arm].last_valid_nll)


def test_a_run_that_diverged_has_no_dot_and_is_counted_and_an_arm_without_any_is_the_worst(recipe, runs):
    best, second, *_ = reversed(recipe.arms)
    runs.loc[runs.arm == best, "status"] = "diverged"
    runs.loc[(runs.arm == best) & (runs.seed == 51), "last_valid_nll"] = None  # before its first validation
    runs.loc[(runs.arm == second) & (runs.seed == 51), "status"] = "diverged"
    (axis,) = by_arm(recipe, runs, "scope").axes
    names = [label.get_text() for label in axis.get_yticklabels()]
    assert names[0] == f"{recipe.arms[best].label} (2 of 2 diverged)"
    assert names[-1] == f"{recipe.arms[second].label} (1 of 2 diverged)"
    dots = [line for line in axis.get_lines() if line.get_marker() != "|"]
    assert [len(line.get_xdata()) for line in dots] == [0, *[2] * (len(names) - 2), 1]


def test_a_placement_has_its_colour_and_no_warm_up_is_hollow(recipe, runs):
    (axis,) = by_arm(recipe, runs, "scope").axes
    dots = dict(zip(recipe.arms, [line for line in axis.get_lines() if line.get_marker() != "|"], strict=True))
    assert {to_hex(dots[arm].get_color()).upper() for arm in ("none", "warmup", "beta2_low")} == {ORANGE}
    assert to_hex(dots["pre_ln"].get_color()).upper() == BLUE
    assert to_hex(dots["none"].get_markerfacecolor()) == "#ffffff"
    assert to_hex(dots["warmup"].get_markerfacecolor()).upper() == ORANGE


def test_a_recipe_whose_curves_can_be_told_apart_has_none(tmp_path, recipe, runs):
    assert not drawn_by_arm(load_recipe("fig2a"))
    assert not drawn_by_arm(load_recipe("factorial")), "axes order its arms"
    assert draw_by_arm(recipe, runs[:0], "scope", tmp_path) == []
    assert draw_by_arm(recipe, runs, "scope", tmp_path) == [BY_ARM]
    assert (tmp_path / f"{BY_ARM}.png").exists()
