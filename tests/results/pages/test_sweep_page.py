"""The tables of a sweep answer its question by the numbers of its runs."""

from dataclasses import replace

import pytest
from swept import swept_recipe, swept_runs

from lnexp.results.pages.sweep_page import sweep_page


@pytest.fixture
def page(tmp_path):
    """Makes the page of the swept recipe, with other nlls where some are given."""
    recipe = swept_recipe(tmp_path)
    return lambda **changed: sweep_page(recipe, swept_runs(recipe, **changed))


def rows(page, number=0):
    """The cells of a table, by its first column."""
    tables = [block for block in page.split("\n\n") if block.startswith("|")]
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in tables[number].splitlines()]
    return {cell[0]: cell[1:] for cell in (cells[0], *cells[2:])}


def test_who_needs_warmup_at_which_rates_and_what_it_costs(page):
    found = rows(page())
    assert list(found) == ["placement", "Pre-LN", "Post-LN †"], "the lowest nll first"
    at, needs, gains, nll, cost, good = found["Post-LN †"]
    assert (at, needs, gains) == ("no rate", "0.002 to 0.004", "0.002 to 0.004")
    assert nll.startswith("0.260 [")
    assert nll.endswith("(n=3) at 300, 0.002")
    assert cost.startswith("0.75 ["), "1.01 at the best rate without warm-up, 0.26 with the longest"
    assert good == "9 of 27"
    assert found["Pre-LN"][:3] == ["0.002 to 0.004", "0.001", "no rate"]


def test_warmup_gains_where_most_seeds_need_a_length_of_it_though_runs_without_are_good(page):
    # 0.41 is good, and more than 0.15 above 0.2
    assert rows(page(pre_ln_none=[0.45, 0.41, 0.2]))["Pre-LN"][:3] == ["0.002 to 0.004", "0.001", "0.002"]


def test_a_rate_needs_warmup_where_the_longest_is_good_and_none_is_not(page):
    """The best of all lengths would be good by chance more often than one."""
    assert rows(page(post_ln_long=[4.0, 0.25, 0.4], post_ln_short=[0.2, 0.3, 0.4]))["Post-LN †"][1] == "0.002 to 0.004"


def test_where_runs_of_an_arm_are_divided_the_range_stands_in_place_of_the_interval(page):
    # good is below 0.45, and the seeds are 0, 0.01 and 0.02 above
    made = page(pre_ln_none=[0.43, 0.22, 0.2])
    assert rows(made, 3)["Pre-LN"][0].startswith("2 / ")
    of = {row[1]: row[2] for row in untuned(made) if row[0] == "Pre-LN"}
    assert of["w/o warm-up"] == "0.293 (0.283 to 0.303, n=3)"
    assert of["long warm-up"].startswith("0.290 [")
    without, _, long = rows(made, 5)["Pre-LN"]
    assert without == "0.08 (0.08 to 0.08, n=3)"
    assert "[" in long


def test_rates_with_a_gap_are_listed(page):
    assert rows(page(pre_ln_none=[0.3, 2.0, 0.2]))["Pre-LN"][:2] == ["0.001, 0.004", "0.002"]


def test_the_highest_rate_at_which_all_runs_are_good_stands_by_warmup(page):
    found = rows(page(pre_ln_none=[0.3, 0.43, 2.0]), 1)
    assert found["Pre-LN"] == ["0.001", "≥ 0.004 (not all at 0.001)", "≥ 0.004"], (
        "at 0.002 one is not, and 0.004 is the highest"
    )
    assert found["Post-LN †"] == ["–", "0.002 (not all at 0.001)", "≥ 0.004 (not all at 0.001)"]


def test_runs_are_counted_by_rate_and_length(page):
    found = rows(page(), 3)
    assert found["placement"] == ["0.001", "0.002", "0.004"]
    assert found["Pre-LN"] == ["0 / 0 / 3", "3 / 3 / 3", "3 / 3 / 3"]
    assert found["Post-LN †"] == ["0 / 0 / 0", "0 / 3 / 3", "0 / 0 / 3"]


def test_where_seeds_are_missing_the_number_of_runs_is_beside_each_count(tmp_path):
    recipe = swept_recipe(tmp_path)
    runs = [run for run in swept_runs(recipe) if run.job.seed == 31 or "none" not in run.job.arm.name]
    assert rows(sweep_page(recipe, runs), 3)["Pre-LN"][1] == "1 of 1 / 3 of 3 / 3 of 3"


def test_losses_have_the_unit_of_the_task(tmp_path):
    recipe = swept_recipe(tmp_path)
    shown = sweep_page(replace(recipe, task="masked_lm"), swept_runs(recipe))
    assert (shown.count("nats a hidden word"), shown.count("nats a token")) == (3, 0)


def test_a_rate_at_which_no_length_is_enough_says_so(page):
    assert rows(page(), 4)["Post-LN †"] == ["no length", "60", "300"]
    # the last seed is 0.02 above the others: 0.435 is good of the first two alone
    assert rows(page(post_ln_long=[0.435, 0.25, 0.4]), 4)["Post-LN †"][0] == "300 to no length"


def test_lr_sensitivity_and_the_nll_at_the_best_rate_have_intervals(page):
    assert rows(page(), 5)["Post-LN †"][0].startswith("2.330 [")
    assert rows(page(), 6)["Pre-LN"][1].endswith("(n=3) at 0.002")


def untuned(page):
    """The rows of what to take where nothing can be tuned, in their order."""
    (table,) = [block for block in page.split("\n\n") if block.startswith("|") and "nll over all rates" in block]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in table.splitlines()[2:]]


def test_where_nothing_can_be_tuned_the_lowest_nll_over_all_rates_comes_first(page):
    found = untuned(page())
    assert [row[:2] for row in found] == [
        ["Pre-LN", "long warm-up"],
        ["Pre-LN", "w/o warm-up"],
        ["Post-LN †", "long warm-up"],
        ["Post-LN †", "w/o warm-up"],
    ]
    assert found[0][2].startswith("0.290 ["), "(0.42 + 0.22 + 0.2) / 3, and a hundredth more each seed"
    assert found[0][3:] == ["9 of 9", "0.001 to 0.004"]
    assert found[3][3:] == ["0 of 9", "no rate"]


def test_one_that_is_as_bad_at_every_rate_is_not_what_to_take(page):
    """Its lr sensitivity is the lowest."""
    made = page(post_ln_long=[0.45, 0.45, 0.45], pre_ln_long=[0.42, 0.22, 0.2])
    assert rows(made, 5)["Post-LN †"][2].startswith("0.00")
    assert untuned(made)[0][:2] == ["Pre-LN", "long warm-up"]


def test_a_best_rate_at_the_edge_of_those_tried_says_so(page):
    found = rows(page(pre_ln_short=[0.2, 0.3, 0.4]), 6)
    assert found["Pre-LN"][2].endswith("(n=3) at 0.004 (highest tried)")
    assert found["Pre-LN"][0].endswith("(n=3) at 0.002")
    assert found["Pre-LN"][1].endswith("(n=3) at 0.001 (lowest tried)")


def test_what_trains_at_no_rate_has_no_best_rate_and_nothing_to_lose(page):
    made = page(post_ln_none=[4.0, 4.0, 4.0], post_ln_short=[4.2, 4.1, 4.1], post_ln_long=[None, None, None])
    assert rows(made, 5)["Post-LN †"][2] == "0.00 [0.00, 0.00] (n=3) ×"
    assert rows(made, 6)["Post-LN †"][2] == "5.00 [5.00, 5.00] (n=3) ×"
    *_, nll, costs, _ = rows(made)["Post-LN †"]
    assert nll.endswith("(n=3) ×")
    assert costs == "–"
    assert rows(page(), 5)["Pre-LN"][2].endswith("(n=3)")


def test_a_placement_that_cannot_be_shown_is_named(tmp_path):
    recipe = swept_recipe(tmp_path)
    lacking = {"post_ln_none_x1": 31, "post_ln_short_x1": 32, "post_ln_long_x1": 33}
    made = sweep_page(recipe, [run for run in swept_runs(recipe) if lacking.get(run.job.arm.name) != run.job.seed])
    assert list(rows(made)) == ["placement", "Pre-LN"]
    assert "Not shown, because no seed has a run of all their arms: Post-LN †." in made


def test_a_seed_that_a_run_lacks_is_left_out_where_it_is_needed(tmp_path):
    recipe = swept_recipe(tmp_path)
    made = sweep_page(recipe, [run for run in swept_runs(recipe) if run.identity != "post_ln_long_x232"])
    assert "(n=2)" in rows(made)["Post-LN †"][3]
    assert rows(made)["Post-LN †"][4].endswith("(n=2)")
    assert rows(made)["Post-LN †"][5] == "8 of 26"
    assert rows(made, 6)["Post-LN †"][0].endswith("(n=3) ×")


def test_a_mark_is_explained_where_it_stands(page):
    assert "A dagger marks placements" in page()
    assert "× marks a placement" in page()
    assert "×" not in page(post_ln_none=[0.3, 0.2, 0.3], post_ln_short=[0.3, 0.2, 0.3], post_ln_long=[0.3, 0.2, 0.3])


def test_there_is_nothing_before_all_arms_have_a_run(tmp_path):
    recipe = swept_recipe(tmp_path)
    runs = swept_runs(recipe)
    assert sweep_page(recipe, []) == ""
    assert sweep_page(recipe, [run for run in runs if run.job.arm.name != "pre_ln_long_x1"]) == ""
    assert sweep_page(recipe, runs)
