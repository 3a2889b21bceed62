"""Sets of arms are measured by what papers define, and no run that diverged is left out."""

from dataclasses import replace

import pytest
from swept import swept_recipe, swept_runs

from lnexp.errors import UserError
from lnexp.recipes.grid import grid_of
from lnexp.results.judging.claims import judge
from lnexp.results.judging.questions import check_claims
from lnexp.results.measures.sweep_measures import SWEEP_MEASURES, SweepResults, finals_of, finals_of_table, sets_of
from lnexp.results.tables.run_tables import runs_table


@pytest.fixture
def recipe(tmp_path):
    return swept_recipe(tmp_path)


@pytest.fixture
def measured(recipe):
    """Measures a set of the swept recipe, with other nlls where some are given."""

    def measure(name, of, runs=None, **changed):
        grid, made = grid_of(recipe), swept_runs(recipe, **changed)
        return SweepResults(grid, finals_of(grid, made if runs is None else runs(made))).measure(name, of)

    return measure


def test_lr_sensitivity_is_the_mean_distance_from_the_lowest(measured):
    mean = (0.3 + 0 + 0.1) / 3
    assert measured("lr_sensitivity", "pre_ln_none") == pytest.approx({31: mean, 32: mean, 33: mean})


def test_a_run_that_diverged_counts_with_the_nll_before_training(measured):
    found = measured("lr_sensitivity", "post_ln_none")
    assert found[31] == pytest.approx((0 + 3 + 4) / 3), "5, the initial nll, is 4 above"
    assert found[32] == pytest.approx((0 + 3 + 3.99) / 3)


def test_no_run_counts_with_more_than_the_nll_before_training(measured):
    assert measured("lr_sensitivity", "post_ln_none", post_ln_none=[1.0, 4.0, 80.0])[31] == pytest.approx(7 / 3)


def test_the_mean_nll_is_that_of_a_rate_drawn_from_all(measured):
    assert measured("mean_nll", "pre_ln_long") == pytest.approx({31: 0.28, 32: 0.29, 33: 0.30})
    assert measured("mean_nll", "post_ln_none")[31] == pytest.approx((1 + 4 + 5) / 3), "one diverged"


def test_the_tuned_nll_is_that_of_one_rate_for_all_seeds(measured):
    assert measured("tuned_nll", "pre_ln_none") == pytest.approx({31: 0.2, 32: 0.21, 33: 0.22})
    assert measured("tuned_nll", "pre_ln_long")[31] == pytest.approx(0.2), "at the highest rate"
    assert measured("tuned_nll", "post_ln")[31] == pytest.approx(0.25), "over warm-ups, too"

    def scattered(runs):
        """Seed 33 of pre_ln_none is best at the lowest rate, where the mean is not."""
        for run in runs:
            if run.job.arm.name == "pre_ln_none_x1" and run.job.seed == 33:
                run.epochs[-1]["valid_nll"] = 0.01
        return runs

    assert measured("tuned_nll", "pre_ln_none", scattered)[33] == pytest.approx(0.22)
    assert measured("best_lr", "pre_ln_none", scattered) == {31: 2e-3, 32: 2e-3, 33: 1e-3}


def test_what_is_good_at_no_rate_has_zero_for_its_best_one(measured):
    assert measured("best_lr", "post_ln_none") == {31: 0, 32: 0, 33: 0}
    # the last seed is 0.02 above the first: 0.435 is good of the first two alone
    assert measured("best_lr", "post_ln_none", post_ln_none=[0.9, 0.435, 0.9]) == {31: 2e-3, 32: 2e-3, 33: 0}


def test_the_shortest_warmup_is_near_the_best_of_its_rate(measured):
    assert measured("shortest_warmup", "pre_ln_x1")[31] == 1, "0.5 is within 0.1 of 0.42"
    assert measured("shortest_warmup", "post_ln_x2")[31] == 60, "0.3 is within 0.1 of 0.25"
    assert measured("shortest_warmup", "post_ln_x4")[31] == 300


def test_no_warmup_is_enough_where_no_run_is_good(measured):
    """The line is 5% of the way from 0.21 to 5: 0.4495."""
    assert measured("shortest_warmup", "post_ln_x1")[31] == 600, "twice the longest"


def test_the_share_of_good_runs(measured):
    assert measured("good_share", "pre_ln_none")[31] == pytest.approx(2 / 3)
    assert measured("good_share", "post_ln_x2")[31] == pytest.approx(2 / 3)
    assert measured("good_share", "post_ln") == pytest.approx({31: 1 / 3, 32: 1 / 3, 33: 1 / 3})


@pytest.mark.parametrize("name", SWEEP_MEASURES)
def test_a_seed_that_an_arm_lacks_has_no_value(measured, recipe, name):
    def without(runs):
        return [run for run in runs if (run.job.arm.name, run.job.seed) != ("pre_ln_none_x2", 32)]

    of = next(of for of, arms in sets_of(grid_of(recipe), name).items() if "pre_ln_none_x2" in arms)
    assert list(measured(name, of, without)) == [31, 33]


@pytest.mark.parametrize("name", ["good_share", "shortest_warmup"])
def test_what_depends_on_the_best_arm_waits_for_all_arms(measured, name):
    def without(runs):
        return [run for run in runs if run.job.arm.name != "pre_ln_long_x4"]

    of = {"good_share": "post_ln_none", "shortest_warmup": "post_ln_x1"}[name]
    assert measured(name, of, without) == {}
    assert measured(name, of)


def test_the_table_gives_what_the_runs_give(recipe):
    runs = swept_runs(recipe)
    grid = grid_of(recipe)
    assert finals_of_table(grid, runs_table(runs)) == finals_of(grid, runs)
    missing = [replace(run, state="not run") for run in runs]
    assert finals_of(grid, missing) == finals_of_table(grid, runs_table(missing)) == {}


def test_a_claim_asks_measures_of_sets(tmp_path):
    recipe = swept_recipe(tmp_path, "lr_sensitivity(pre_ln_none) < 0.5 * lr_sensitivity(post_ln_none)")
    found = judge(recipe.claims[0], recipe, swept_runs(recipe))
    assert (found.verdict, found.seeds) == ("reproduced", 3)
    assert found.arms["post_ln_none"].measure == "lr_sensitivity"
    assert found.arms["post_ln_none"].mean == pytest.approx(6.99 / 3)
    assert found.arms["post_ln_none"].runs[:2] == ["post_ln_none_x131", "post_ln_none_x231"]
    assert len(found.arms["post_ln_none"].runs) == 9


def test_measures_of_arms_and_of_sets_can_stand_in_one_test(tmp_path):
    recipe = swept_recipe(tmp_path, "tuned_nll(post_ln) < last_nll(post_ln_none_x2)")
    runs = swept_runs(recipe)
    assert judge(recipe.claims[0], recipe, runs).verdict == "inconclusive", "one margin of three seeds"
    next(run for run in runs if run.identity == "post_ln_none_x231").epochs[-1]["valid_nll"] += 0.01
    assert judge(recipe.claims[0], recipe, runs).verdict == "reproduced"


@pytest.mark.parametrize(
    ("holds_if", "message"),
    [
        ("lr_sensitivity(pre_ln_x1) < 1", "no set of arms pre_ln_x1"),
        ("lr_sensitivity(pre_ln_none_x1) < 1", "no set of arms pre_ln_none_x1"),
        ("lr_sensitivity(pre_ln) < 1", "no set of arms pre_ln"),
        ("shortest_warmup(pre_ln_none) < 1", "no set of arms pre_ln_none"),
        ("last_nll(pre_ln_none) < 1", "no arm pre_ln_none"),
        ("lr_sensitivty(pre_ln_none) < 1", "lr_sensitivity"),
    ],
)
def test_a_test_that_asks_for_another_set_is_refused(tmp_path, holds_if, message):
    recipe = swept_recipe(tmp_path, holds_if)
    with pytest.raises(UserError, match=message):
        check_claims(recipe)


def test_a_recipe_without_a_sweep_has_no_measures_of_sets(make_run):
    recipe = replace(make_run.recipe, claims=(make_run.claim("lr_sensitivity(good) < 1"),))
    with pytest.raises(UserError, match="no measure lr_sensitivity"):
        check_claims(recipe)
