"""Intervals of a mean."""

import pytest
from scipy import stats

from lnexp.results.statistics.intervals import Interval, Range, interval, spread_of


def test_the_interval_is_scipys():
    values = [90.0, 92.5, 91.0, 95.0]
    low, high = stats.t.interval(0.95, 3, loc=sum(values) / 4, scale=stats.sem(values))
    found = interval(values)
    assert found is not None
    assert (found.mean, found.low, found.high, found.n) == pytest.approx((sum(values) / 4, low, high, 4))


def test_the_range_stands_where_the_interval_says_nothing_or_leaves_what_is_possible():
    values = [97.0, 99.0, 99.5]
    assert spread_of(values) == interval(values)
    assert spread_of(values, divided=True) == Range(98.5, 97.0, 99.5, 3)
    assert spread_of(values, low=0.0, high=100.0) == Range(98.5, 97.0, 99.5, 3), "to 101.8"
    assert spread_of([0.01, 0.02, 0.5], low=0.0) == Range(pytest.approx(0.53 / 3), 0.01, 0.5, 3)
    assert spread_of([50.0, 51.0], low=0.0, high=100.0) == interval([50.0, 51.0])
    assert spread_of([3.0], divided=True) == Interval(3.0, None, None, 1)
    assert spread_of([]) is None


def test_a_range_is_as_exact_as_its_ends_are_far_apart():
    assert str(Range(0.9921, 0.9902, 0.9948, 6)) == "0.9921 (0.9902 to 0.9948, n=6)"
    assert str(Range(-0.001, -0.4, 0.3, 3)) == "0.00 (-0.40 to 0.30, n=3)"
    assert str(Range(23.666, 0.0, 70.0, 3)) == "23.67 (0.00 to 70.00, n=3)"
    assert str(Range(1 / 12, 1 / 12 - 1e-17, 1 / 12, 3)) == "0.08 (0.08 to 0.08, n=3)"


def test_one_value_has_no_interval_and_none_no_mean():
    assert interval([3.0]) == Interval(3.0, None, None, 1)
    assert str(interval([3.0])) == "3.00 (n=1)"
    assert str(interval([0.0])) == "0.00 (n=1)"
    assert interval([]) is None


def test_equal_values_have_a_point():
    assert interval([2.0, 2.0, 2.0]) == Interval(2.0, 2.0, 2.0, 3)


@pytest.mark.parametrize(
    ("value", "shown"), [(0.0005, "0.00050"), (-0.0312, "-0.031"), (0.0625, "0.06"), (0.0, "0.00")]
)
def test_a_small_value_without_a_width_is_told_from_zero(value, shown):
    assert str(interval([value])) == f"{shown} (n=1)"
    assert str(interval([value, value])) == f"{shown} [{shown}, {shown}] (n=2)"


def test_a_mean_that_rounds_to_zero_has_no_sign_and_an_end_of_its_interval_has():
    assert str(Interval(-0.001, -0.05, 0.05, 3)) == "0.00 [-0.05, 0.05] (n=3)"
    assert str(Interval(0.05, -0.001, 0.1, 3)) == "0.05 [-0.00, 0.10] (n=3)"
