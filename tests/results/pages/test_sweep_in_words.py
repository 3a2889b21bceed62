"""What is said of a placement of a sweep, by its label."""

from swept import swept_recipe, swept_runs

from lnexp.results.pages.sweep_in_words import best_rates, cost, lengths, of_each


def test_lengths_are_in_words_by_rate(tmp_path):
    recipe = swept_recipe(tmp_path)
    assert of_each(recipe, swept_runs(recipe), lengths) == {
        "Pre-LN": ["1", "1", "1"],
        "Post-LN †": ["no length", "60", "300"],
    }
    assert of_each(recipe, [], lengths) == {}


def test_best_rates_say_whether_they_are_an_edge(tmp_path):
    recipe = swept_recipe(tmp_path)
    assert of_each(recipe, swept_runs(recipe), best_rates) == {
        "Pre-LN": ["0.002", "0.004 (highest tried)"],
        "Post-LN †": ["0.001 (lowest tried)", "0.002"],
    }


def test_what_no_warmup_costs_is_in_words(tmp_path):
    recipe = swept_recipe(tmp_path)
    found = of_each(recipe, swept_runs(recipe), cost)
    assert list(found) == ["Pre-LN", "Post-LN †"]
    assert found["Post-LN †"].startswith("0.75 ["), "1.01 at the best rate without warm-up, 0.26 with the longest"
