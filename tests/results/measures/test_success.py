"""What a recipe calls a success, and the score that a run has to exceed."""

from dataclasses import replace

import pytest

from lnexp.errors import UserError
from lnexp.recipes.load import load_recipe
from lnexp.results.measures.success import Success, divided_arms, success_of

ARMS = [[90.0, 92.0], [2.0, 4.0]]


def test_the_line_is_a_fraction_of_the_best_arm():
    assert Success("best_bleu", 0.5).line(ARMS) == 45.5


def test_where_the_best_arm_fails_none_succeeds():
    assert Success("best_bleu", 0.5, at_least=5.0).line([[2.0, 4.0], [0.1, 0.3]]) == 5.0
    assert Success("best_bleu", 0.5, at_least=5.0).line(ARMS) == 45.5


@pytest.mark.parametrize(
    ("said", "message"),
    [
        ({"at_least": -1}, "at_least must not be below 0"),
        ({"at_least": float("nan")}, "at_least must not be below 0"),
        ({"fraction": 1.0}, "between 0 and 1"),
        ({"floor": 5}, "not floor"),
        ({"measure": "best_nll"}, "no measure of bleu"),
    ],
)
def test_what_cannot_be_meant_is_refused(said, message):
    recipe = replace(load_recipe("fig2a"), success=said)
    with pytest.raises(UserError, match=message):
        success_of(recipe)


def test_an_arm_is_divided_where_some_of_its_runs_succeed(make_run):
    good = [make_run("good", seed, [90.0]) for seed in (1, 2, 3)]

    def divided(*bad):
        return divided_arms(make_run.recipe, [*good, *bad])

    fails, trains = make_run("bad", 1, [1.0]), make_run("bad", 2, [80.0])
    assert divided(fails) == divided(trains) == set()
    assert divided(fails, trains) == {"bad"}
    assert divided(trains, make_run("bad", 3, [80.0], "diverged")) == {"bad"}
    assert divided(trains, make_run("bad", 3, [1.0], "running")) == set()
    assert divided_arms(replace(make_run.recipe, measurement="anything"), [*good, fails, trains]) == set()
