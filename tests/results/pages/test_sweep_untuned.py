"""What to take where the rate cannot be tuned."""

import pytest
from swept import swept_recipe, swept_runs

from lnexp.results.pages.sweep_untuned import best_untuned


def test_what_is_best_untuned_is_compared_with_the_others_at_its_warmup(tmp_path):
    recipe = swept_recipe(tmp_path)
    placement, warmup, nll = best_untuned(recipe, swept_runs(recipe))
    assert (placement, warmup) == ("Pre-LN", 300)
    assert nll == {"Pre-LN": pytest.approx(0.29), "Post-LN †": pytest.approx(0.40)}
