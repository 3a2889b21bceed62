"""Who trains: a word for every two arms that differ in their warm-up alone."""

from dataclasses import replace

import pytest

from lnexp.recipes.recipe import Arm
from lnexp.results.measures.outcomes import outcomes_page, outcomes_table

WITHOUT, WITH = "w/o warm-up", "with warm-up"


@pytest.fixture
def runs_of(make_run):
    """Makes runs of a recipe of placements, depths and warm-ups from best BLEUs by arm; None for a diverged one."""

    def arm(placement, depth, warmup):
        name = f"{placement}_{depth}_{warmup}"
        return name, Arm(name, name, (), values={"placement": placement, "depth": depth, "warmup": warmup})

    values = [(p, d, w) for w in (WITHOUT, "short", WITH) for d in ("6-6", "18-18") for p in ("Post-LN", "Pre-LN")]
    outcomes = {"rows": "placement", "columns": "depth", "over": "warmup"}
    make_run.recipe = replace(make_run.recipe, arms=dict(arm(*each) for each in values), outcomes=outcomes)

    def make(bleus):
        runs = [
            make_run("_".join(arm), 11 + number, [bleu], "finished")
            if bleu is not None
            else make_run("_".join(arm), 11 + number, [], "diverged")
            for arm, by_seed in bleus.items()
            for number, bleu in enumerate(by_seed)
        ]
        return make_run.recipe, runs

    return make


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
    assert outcomes_page(*runs_of({("Post-LN", "6-6", WITHOUT): [50]})) == ""


def test_the_page_has_a_row_a_placement_and_says_where_seeds_disagree(runs_of):
    bleus = {
        ("Post-LN", "6-6", WITHOUT): [2, 2, 50],
        ("Post-LN", "6-6", WITH): [90, 90, 90],
        ("Pre-LN", "18-18", WITHOUT): [60, 60],
        ("Pre-LN", "18-18", WITH): [70, 70],
    }
    page = outcomes_page(*runs_of(bleus))
    assert "more than 0.5 of 90.0" in page
    rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in page.splitlines() if line.startswith("|")]
    assert rows[0] == ["placement", "6-6", "18-18"]
    assert rows[2] == ["Post-LN", "needs warm-up 18.0 / 90.0 (1 of 3 / 3 of 3)", "–"]
    assert rows[3] == ["Pre-LN", "–", "trains 60.0 / 70.0"]


def test_a_floor_is_said_and_kept(runs_of):
    recipe, runs = runs_of({("Post-LN", "6-6", WITHOUT): [2, 2, 3], ("Post-LN", "6-6", WITH): [4, 4, 4]})
    recipe = replace(recipe, success={"at_least": 5})
    assert outcomes_table(recipe, runs)["outcome"].tolist() == ["fails"]
    assert "that of the best arm, and more than 5.0, and it" in outcomes_page(recipe, runs)


def test_diverged_runs_are_counted(runs_of):
    bleus = {
        ("Post-LN", "6-6", WITHOUT): [None, 1, None],
        ("Post-LN", "6-6", WITH): [90, 90, 90],
    }
    assert "| needs warm-up 0.3 / 90.0, 2 diverged |" in outcomes_page(*runs_of(bleus))
