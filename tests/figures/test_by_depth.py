"""The score by depth is one panel a length of warm-up."""

from dataclasses import replace

import pandas as pd
import pytest

from lnexp.figures.by_depth import by_depth
from lnexp.figures.line_styles import PLACEMENTS
from lnexp.paths import RESULTS_DIR
from lnexp.recipes.load import load_recipe
from lnexp.result_tables import read_table


@pytest.fixture
def runs():
    """Two runs an arm, each with a score of its own."""
    arms = [(arm, seed) for arm in load_recipe("depth").arms for seed in (21, 22)]
    rows = [{"arm": arm, "seed": seed, "best_valid_bleu": float(number)} for number, (arm, seed) in enumerate(arms)]
    return pd.DataFrame(rows)


def test_a_panel_a_warm_up_a_line_a_placement_and_the_means_of_the_table(runs):
    (panels,) = by_depth(load_recipe("depth"), runs, "scope").rows
    assert [panel.title for panel in panels] == ["w/o warm-up", "with warm-up"]
    for panel, warmup in zip(panels, ("none", "full"), strict=True):
        assert len(panel.lines) == len(load_recipe("depth").arms) / 8, "each placement at four depths, twice"
        (pre_ln,) = [line for line in panel.lines if line.label == "Pre-LN"]
        assert (pre_ln.x, pre_ln.style.colour) == ([6, 12, 18, 36], PLACEMENTS["pre_ln"])
        mean = runs[runs.arm == f"d12_{warmup}_pre_ln"].best_valid_bleu.mean()
        assert pre_ln.mean[1] == pytest.approx(mean)


def test_a_recipe_without_depth_has_no_such_figure():
    runs = read_table(RESULTS_DIR / "small" / "toy" / "placements" / "runs.csv")
    assert by_depth(load_recipe("placements"), runs, "scope") is None
    assert by_depth(load_recipe("depth"), runs[:0], "scope") is None


@pytest.mark.parametrize(("label", "drawn"), [("12", True), ("12 layers", False), ("deep", False)])
def test_a_depth_in_words_has_no_place_on_its_axis(runs, label, drawn):
    recipe = load_recipe("depth")
    named = {name: replace(arm, values=arm.values | {"depth": label}) for name, arm in recipe.arms.items()}
    assert (by_depth(recipe.with_arms(named), runs, "scope") is not None) is drawn
