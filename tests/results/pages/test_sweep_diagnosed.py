"""What runs of a sweep recorded, at a placement's best rate and at the first where it fails."""

from dataclasses import replace

import pytest
from swept import RATES, SEEDS, swept_recipe, swept_runs

from lnexp.recipes.grid import grid_of
from lnexp.results.measures.sweep_measures import SweepResults, finals_of
from lnexp.results.measures.sweep_summary import summaries_of
from lnexp.results.pages.sweep_diagnosed import diagnosed_part


@pytest.fixture
def part(tmp_path):
    """Makes the part of the swept recipe, whose runs recorded what a function says of each."""
    recipe = swept_recipe(tmp_path)
    grid = grid_of(recipe)

    def make(recorded, failed=(), **nlls):
        runs = [replace(run, state="failed") if run.identity in failed else run for run in swept_runs(recipe, **nlls)]
        for run in runs:
            run.end.update(recorded(run))
        return diagnosed_part(grid, summaries_of(SweepResults(grid, finals_of(grid, runs))), runs)

    return make


def logit(run):
    """Ten times the number of the rate, a little more with the second seed, and much more with the third."""
    number = list(RATES).index(run.job.arm.name.rpartition("_")[2]) + 1
    return {"max_attention_logit": 10 * number + [0, 0.1, 500][SEEDS.index(run.job.seed)]}


def test_the_best_rate_stands_before_the_first_that_fails(part):
    *_, table = part(logit, pre_ln_none=[0.2, 4.0, 4.0])
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in table.splitlines()]
    assert rows[0] == ["placement", "warm-up", "lr_max", "largest attention logit"]
    assert rows[2:] == [
        ["Pre-LN", "w/o warm-up", "0.001 → 0.002", "10.1 → 20.1"],
        ["Pre-LN", "long warm-up", "0.004", "30.1"],
        ["Post-LN †", "w/o warm-up", "0.001 ×", "10.1"],
        ["Post-LN †", "long warm-up", "0.002", "20.1"],
    ]


def test_runs_that_are_not_over_are_left_out(part):
    *_, table = part(logit, failed={"pre_ln_none_x231", "pre_ln_none_x232"})
    assert table.splitlines()[2].split("|")[-2].strip() == "520"


def test_what_an_arm_has_not_recorded_is_a_dash(part):
    *_, table = part(lambda run: logit(run) if "post_ln" in run.job.arm.name else {}, pre_ln_none=[0.2, 4.0, 4.0])
    assert [line.strip("|").split("|")[-1].strip() for line in table.splitlines()[2:]] == ["– → –", "–", "10.1", "20.1"]


def test_there_is_none_where_nothing_was_recorded(part):
    assert part(lambda run: {}) == []
