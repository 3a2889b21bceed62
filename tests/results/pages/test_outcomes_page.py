"""The page of who trains without warm-up."""

from dataclasses import replace

from lnexp.results.pages.outcomes_page import outcomes_page

WITHOUT, WITH = "w/o warm-up", "with warm-up"


def test_arms_whose_runs_are_missing_have_no_page(runs_of):
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


def test_a_floor_is_said(runs_of):
    recipe, runs = runs_of({("Post-LN", "6-6", WITHOUT): [2, 2, 3], ("Post-LN", "6-6", WITH): [4, 4, 4]})
    page = outcomes_page(replace(recipe, success={"at_least": 5}), runs)
    assert "that of the best arm, and more than 5.0, and it" in page


def test_diverged_runs_are_counted(runs_of):
    bleus = {
        ("Post-LN", "6-6", WITHOUT): [None, 1, None],
        ("Post-LN", "6-6", WITH): [90, 90, 90],
    }
    assert "| needs warm-up 0.3 / 90.0, 2 diverged |" in outcomes_page(*runs_of(bleus))
