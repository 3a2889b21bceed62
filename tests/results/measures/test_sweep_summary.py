"""A placement of a sweep is summed up from the runs of its arms."""

import pytest
from swept import swept_recipe, swept_runs

from lnexp.recipes.grid import grid_of
from lnexp.results.measures.sweep_measures import SweepResults, finals_of
from lnexp.results.measures.sweep_summary import summaries_of


@pytest.fixture
def summaries(tmp_path):
    """Makes the summaries of the swept recipe by placement, of some of its runs and with other nlls."""
    recipe = swept_recipe(tmp_path)

    def make(keep=lambda run: True, **changed):
        grid = grid_of(recipe)
        runs = filter(keep, swept_runs(recipe, **changed))
        return {one.name: one for one in summaries_of(SweepResults(grid, finals_of(grid, runs)))}

    return make


def test_the_best_cell_is_over_rates_and_lengths(summaries):
    found = summaries()
    assert found["pre_ln"].best == ("none", "x2")
    assert found["post_ln"].best == ("long", "x2")
    assert found["pre_ln"].best_rate == {"none": "x2", "short": "x2", "long": "x4"}
    assert list(summaries(post_ln_long=[0.5, 0.1, 0.4])) == ["post_ln", "pre_ln"], "the lowest nll first"


def test_cells_tell_good_runs(summaries):
    cells = summaries()["post_ln"].cells["short"]
    assert {rate: (cell.good, cell.mostly_good) for rate, cell in cells.items()} == {
        "x1": (0, False),
        "x2": (3, True),
        "x4": (0, False),
    }
    assert cells["x2"].mean == pytest.approx(0.31)


def test_the_width_is_how_many_rates_are_good(summaries):
    found = summaries(pre_ln_none=[0.435, 0.2, 0.3])["pre_ln"]
    assert found.width("none") == pytest.approx(2 + 2 / 3), "0.455, of the last seed, is not good"
    assert found.good_at("none") == ["x1", "x2", "x4"]


def test_what_is_good_is_not_known_before_all_arms_have_a_run(summaries):
    found = summaries(lambda run: run.job.arm.name != "post_ln_long_x1")
    assert list(found) == ["pre_ln"]
    assert found["pre_ln"].width("none") is None
    assert found["pre_ln"].good_at("none") == []
    assert found["pre_ln"].sensitivity["none"]
