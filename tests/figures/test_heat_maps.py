"""Heat maps show the means of the pairs that a probe measured, and nothing where it measured none."""

import numpy as np
import pandas as pd
import pytest

from lnexp.errors import UserError
from lnexp.figures.heat_maps import draw_heat_maps, heat_maps
from lnexp.recipes.load import load_recipe

RECIPE = load_recipe("dependency_pairs")
PLOT = RECIPE.more_plots["pairs"]


@pytest.fixture
def table():
    """Shares of three sublayers in later blocks, of five arms and two seeds; one arm was not measured as far."""
    rows = [
        {
            "arm": arm,
            "seed": seed,
            "sublayer": block,
            "on": on,
            "back": block - on,
            "share": 10.0 ** -(block - on) * seed,
        }
        for arm in list(RECIPE.arms)[:5]
        for seed in (1, 3)
        for block in range(1, 3 if arm == "pre_ln" else 4)
        for on in range(1, block + 1)
    ]
    return pd.DataFrame(rows)


def test_cells_are_means_over_seeds_at_their_places(table):
    figure = heat_maps(RECIPE, PLOT, table, "scope")
    maps = [axis for axis in figure.axes if axis.images]
    assert [axis.get_title() for axis in maps] == ["Post-LN", "Pre-LN", "Admin", "B2T", "DeepNorm"]
    first, second = (axis.images[0] for axis in maps[:2])
    assert first.get_array().filled(np.nan) == pytest.approx(
        np.array([[2, np.nan, np.nan], [0.2, 2, np.nan], [0.02, 0.2, 2]]), nan_ok=True
    )
    assert first.get_extent() == [0.5, 3.5, 3.5, 0.5], "cells lie around whole numbers, the first block above"
    assert second.get_array().shape == (2, 2)
    assert {(axis.images[0].norm.vmin, axis.images[0].norm.vmax) for axis in maps} == {(0.02, 2)}, "one scale"
    assert (maps[0].get_xlabel(), maps[0].get_ylabel()) == ("share of sublayer", "in the output of")
    assert maps[1].get_ylabel() == ""
    assert "seeds 1, 3: means" in figure.get_suptitle()


def test_a_number_that_is_left_out_has_no_cell_and_what_is_no_number_is_refused(table):
    first = heat_maps(RECIPE, PLOT, table[table["on"] != 2], "scope").axes[0].images[0]
    assert first.get_array().filled(np.nan)[2] == pytest.approx([0.02, np.nan, 2], nan_ok=True)
    with pytest.raises(UserError, match="on and sublayer of a heat map must be whole numbers"):
        heat_maps(RECIPE, PLOT, table.astype({"sublayer": str}), "scope")


def test_a_scale_is_linear_where_nothing_else_is_said(table):
    plot = {key: value for key, value in PLOT.items() if key != "colour_scale"}
    norm = heat_maps(RECIPE, plot, table, "scope").axes[0].images[0].norm
    assert norm(1.01) == pytest.approx(0.5)


def test_only_plots_with_a_colour_are_drawn(table, tmp_path):
    assert draw_heat_maps(RECIPE, table, "scope", tmp_path) == ["pairs"]
    assert {path.name for path in tmp_path.iterdir()} == {"pairs.png", "pairs.svg", "pairs.pdf"}
    assert draw_heat_maps(load_recipe("dependency"), table, "scope", tmp_path / "none") == []


def test_a_share_of_nothing_is_white_on_a_logarithmic_scale(table):
    zero = table.assign(share=table["share"].where(table["back"] != 1, 0.0))
    first = heat_maps(RECIPE, PLOT, zero, "scope").axes[0].images[0]
    assert first.get_array().filled(np.nan)[2] == pytest.approx([0.02, np.nan, 2], nan_ok=True)
    of_one = table.assign(share=table["share"].where(table["arm"] != "pre_ln", 0.0))
    assert len(heat_maps(RECIPE, PLOT, of_one, "scope").axes) == len(heat_maps(RECIPE, PLOT, table, "scope").axes)
    with pytest.raises(UserError, match="plot: no row has on, sublayer and share above zero"):
        heat_maps(RECIPE, PLOT, table.assign(share=0.0), "scope")
