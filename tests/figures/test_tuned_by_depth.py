"""What a sweep's placements reach at their best rates, by depth."""

import pandas as pd
import pytest

from lnexp.figures.line_styles import PLACEMENTS
from lnexp.figures.tuned_by_depth import tuned_by_depth
from lnexp.recipes.load import load_recipe

#: The best rate of Pre-LN at each depth, and what it reaches there with the first seed.
BEST = {"pre_ln_6": ("x4", 0.4), "pre_ln_12": ("x2", 0.5), "pre_ln_36": ("x1", 1.2)}


@pytest.fixture
def recipe():
    """One of five placements at three depths."""
    return load_recipe("depth_by_rate")


@pytest.fixture
def runs(recipe):
    """Two runs an arm that end at 4 nats, but Pre-LN's at its best rates."""
    rows = []
    for name, arm in recipe.arms.items():
        rate, reached = BEST.get(arm.keys["placement"], ("", 4.0))
        nll = reached if arm.keys["lr_max"] == rate else 4.0
        for seed, more in ((351, 0), (352, 0.1)):
            rows.append({"arm": name, "seed": seed, "last_valid_nll": nll + more, "status": "finished"})
    return pd.DataFrame(rows)


def test_a_panel_a_warm_up_a_line_a_placement_each_at_its_best_rate(recipe, runs):
    drawing = tuned_by_depth(recipe, runs, "scope")
    (panels,) = drawing.rows
    assert [panel.title for panel in panels] == ["w/o warm-up", "with warm-up"]
    for panel in panels:
        assert [line.label for line in panel.lines] == ["Post-LN", "Pre-LN", "Admin †", "DeepNorm †", "ReZero †"]
        pre_ln = panel.lines[1]
        assert (pre_ln.x, pre_ln.style.colour) == ([6, 12, 36], PLACEMENTS["pre_ln"])
        assert pre_ln.mean == pytest.approx([0.45, 0.55, 1.25])
        assert (pre_ln.low, pre_ln.high) == (pytest.approx([0.4, 0.5, 1.2]), pytest.approx([0.5, 0.6, 1.3]))
    assert "† a rate may mean something else" in drawing.subtitle


def test_a_depth_of_which_an_arm_has_no_run_is_not_drawn(recipe, runs):
    some = runs[~runs["arm"].str.startswith("pre_ln_12_none")]
    without, full = tuned_by_depth(recipe, some, "scope").rows[0]
    assert without.lines[1].x == [6, 36]
    assert full.lines[1].x == [6, 12, 36]
    assert tuned_by_depth(recipe, runs[:0], "scope") is None


@pytest.mark.parametrize("name", ["map", "depth"])
def test_a_sweep_without_depths_and_a_recipe_without_a_sweep_have_no_such_figure(runs, name):
    assert tuned_by_depth(load_recipe(name), runs, "scope") is None
