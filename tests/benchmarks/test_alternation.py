"""Rates of alternating rounds are compared by the median of neighbours, which noise that lasts cannot change."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lnexp.benchmarks.alternation import AlternatingRates

RATES = st.floats(0.1, 1e6)


def test_medians_and_the_ratio_are_of_rounds():
    rates = AlternatingRates([10.0, 30.0, 20.0], [5.0, 15.0, 5.0])
    assert rates.medians == (20.0, 5.0)
    assert rates.ratio == 2.0, "the median of 2, 2 and 4, and not the ratio of the medians"


@given(st.lists(st.tuples(RATES, RATES), min_size=1, max_size=9), st.floats(0.1, 10))
def test_a_machine_that_slows_down_in_a_round_changes_nothing(rounds, slower):
    ours, stock = map(list, zip(*rounds, strict=True))
    before = AlternatingRates(ours, stock).ratio
    ours[0], stock[0] = ours[0] / slower, stock[0] / slower
    assert AlternatingRates(ours, stock).ratio == pytest.approx(before)
