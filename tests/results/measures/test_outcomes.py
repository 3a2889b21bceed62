"""Who trains: a word for every two arms that differ in their warm-up alone."""

from dataclasses import replace

import pytest

from lnexp.results.measures.outcomes import outcomes_table

WITHOUT, WITH = "w/o warm-up", "with warm-up"


def word(runs_of, without, with_warmup, best=80.0):
    arms = {("Post-LN", "6-6", WITHOUT): without, ("Post-LN", "6-6", WITH): with_warmup}
    others = {("Pre-LN", "6-6", WITHOUT): [best], ("Pre-LN", "6-6", WITH): [1.0]}
    table = outcomes_table(*runs_of(arms | others))
    return table.set_index("placement").loc["Post-LN", "outcome"]


@pytest.mark.parametrize(
    ("without", "with_warmup", "expected"),
    [
        ([50, 60, 70], [50, 60, 70], "trains"),
        ([3, 2, 1], [50, 60, 70], "needs warm-up"),
        ([50, 60, 70], [3, 2, 1], "only without warm-up"),
        ([3, 2, 1], [3, 2, 1], "fails"),
        ([None, None, 1], [None, None, 1], "diverges"),
        ([None, None, None], [3, 2, 1], "diverges"),
        ([None, 2, 1], [None, 2, 1], "fails"),
        ([3, 41, 41], [3, 45, 70], "trains"),  # most of the runs decide, and the line is at 40
        ([3, 39, 41], [3, 39, 41], "fails"),
    ],
)
def test_a_word_for_what_most_runs_did(runs_of, without, with_warmup, expected):
    assert word(runs_of, without, with_warmup) == expected


def test_the_line_is_drawn_by_the_best_arm_of_any_depth(runs_of):
    assert word(runs_of, [50], [50], best=80.0) == "trains"
    assert word(runs_of, [50], [50], best=101.0) == "fails"


def test_arms_whose_runs_are_missing_have_no_word(runs_of):
    table = outcomes_table(*runs_of({("Post-LN", "6-6", WITHOUT): [50]}))
    assert table.empty


def test_a_floor_is_kept(runs_of):
    recipe, runs = runs_of({("Post-LN", "6-6", WITHOUT): [2, 2, 3], ("Post-LN", "6-6", WITH): [4, 4, 4]})
    assert outcomes_table(replace(recipe, success={"at_least": 5}), runs)["outcome"].tolist() == ["fails"]
