"""Arms of a sweep are found by placement, rate and warm-up, and a sweep that cannot be measured is refused."""

from dataclasses import replace

import pytest
from swept import CONTENT, swept_recipe

from lnexp.errors import UserError
from lnexp.recipes.grid import Grid, grid_of
from lnexp.recipes.recipe import Arm
from lnexp.recipes.sweep_settings import SweepSettings


@pytest.fixture
def recipe(tmp_path):
    return swept_recipe(tmp_path)


def test_a_set_is_named_without_what_its_arms_differ_in(recipe):
    grid = grid_of(recipe)
    assert grid.sets_without(["columns"])["pre_ln_none"] == ["pre_ln_none_x1", "pre_ln_none_x2", "pre_ln_none_x4"]
    assert grid.sets_without(["over"])["post_ln_x4"] == ["post_ln_none_x4", "post_ln_short_x4", "post_ln_long_x4"]
    assert len(grid.sets_without(["columns", "over"])["pre_ln"]) == 9
    assert grid.set_name(rows="pre_ln", over="none") == "pre_ln_none"
    assert grid.set_name(columns="x1", rows="pre_ln") == "pre_ln_x1", "in the order of the axes"
    assert grid.arm("pre_ln", "x2", "long") == "pre_ln_long_x2"


def test_rates_and_lengths_are_read_from_what_arms_set(recipe):
    grid = grid_of(recipe)
    assert grid.rates == {"x1": 1e-3, "x2": 2e-3, "x4": 4e-3}
    assert grid.warmups == {"none": 1, "short": 60, "long": 300}
    assert grid.by_arm("over")["pre_ln_long_x2"] == 300
    assert grid.by_arm("columns")["pre_ln_long_x2"] == 2e-3


def changed(recipe, old, new):
    """The recipe with other overrides."""
    arms = {
        name: replace(arm, overrides=tuple(new if said == old else said for said in arm.overrides))
        for name, arm in recipe.arms.items()
    }
    return replace(recipe, arms=arms)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("lr_max=2e-3", "lr_max=3e-3", "must be one factor apart"),
        ("lr_max=2e-3", "lr_max=8e-3", "needs two values of lr_max at least, ascending"),
        ("lr_max=2e-3", "lr_max=${scale.lr_max.low}", "lr_max must be a number"),
        ("lr_max=2e-3", "max_epoch=2", "lr_max must be a number"),
        ("warmup_updates=60", "warmup_updates=400", "needs two values of warmup_updates at least, ascending"),
    ],
)
def test_a_sweep_that_cannot_be_measured_is_refused(recipe, old, new, message):
    with pytest.raises(UserError, match=message):
        grid_of(changed(recipe, old, new))


def test_an_arm_with_another_rate_than_its_column_is_refused(recipe):
    name, arm = list(recipe.arms.items())[-1]
    other = replace(arm, overrides=(*arm.overrides, "lr_max=1e-2"))
    with pytest.raises(UserError, match=f"{name}: its lr_max is 0.01, of its axis 0.004"):
        grid_of(replace(recipe, arms=recipe.arms | {name: other}))


def test_marks_of_placements_that_are_not_there_are_refused(recipe):
    with pytest.raises(ValueError, match="other_rate: rezero: not of placement"):
        Grid(replace(recipe, sweep=replace(recipe.sweep, other_rate=("rezero",))))


def test_a_recipe_without_a_sweep_has_no_grid(recipe):
    with pytest.raises(UserError, match="needs outcomes"):
        grid_of(replace(recipe, sweep=None))
    with pytest.raises(UserError, match="needs outcomes"):
        grid_of(replace(recipe, outcomes={}, arms={"one": Arm("one", "One", ())}))


@pytest.mark.parametrize("numbers", [(0, 0.1, 0.1), (5, 0, 0.1), (5, 0.1, 0), (5, 0.1, 1)])
def test_numbers_that_make_no_sense_are_refused(numbers):
    with pytest.raises(ValueError, match="must be above zero"):
        SweepSettings(*numbers)


def test_a_file_with_a_sweep_that_cannot_be_measured_is_refused(tmp_path, monkeypatch):
    monkeypatch.setitem(CONTENT, "sweep", CONTENT["sweep"] | {"other_rate": ["rezero"]})
    with pytest.raises(UserError, match=r"not a recipe .*other_rate: rezero: not of placement"):
        swept_recipe(tmp_path)
    monkeypatch.setitem(CONTENT, "sweep", {"initial_nll": 5.0})
    with pytest.raises(UserError, match=r"not a recipe .*sweep does not have within, good"):
        swept_recipe(tmp_path)


def test_numbers_of_a_sweep_decide_results_and_marks_do_not(recipe):
    def hashed(**changes):
        return replace(recipe, sweep=replace(recipe.sweep, **changes)).settings_hash("small")

    assert hashed(other_rate=()) == hashed()
    assert len({hashed(), hashed(within=0.2), hashed(good=0.2), hashed(initial_nll=6.0)}) == 4
    assert replace(recipe, sweep=None).settings_hash("small") != hashed()
