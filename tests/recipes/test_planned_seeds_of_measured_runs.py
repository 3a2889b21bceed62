"""A measurement of trained runs plans the seeds that are planned for these."""

from lnexp.recipes.load import load_recipe


def test_linear_probes_are_of_the_seeds_of_failure():
    """``make reproduce-why`` trains those runs, and then measures them."""
    assert load_recipe("linear_probes").planned_at("theory") == load_recipe("failure").planned_at("small")
