"""The exact test of an average margin."""

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from lnexp.results.statistics.sign_flips import FEWEST, MOST, p_of_sign_flips


@given(st.lists(st.integers(-50, 50), min_size=2, max_size=8))
def test_it_is_scipys_permutation_test_of_all_signs(values):
    found = stats.permutation_test((values,), sum, permutation_type="samples", n_resamples=1000)
    # scipy doubles the smaller tail, which is the same as the sums of all signs are symmetric
    assert p_of_sign_flips(values) == pytest.approx(found.pvalue)


def test_as_few_values_as_can_be_decided_are_those_that_say_so():
    assert p_of_sign_flips([1.0] * FEWEST) < 0.05 < p_of_sign_flips([1.0] * (FEWEST - 1))


def test_it_does_not_hang_on_the_unit():
    values = [0.1, 0.2, 0.3, -0.1, 0.5, 0.7]
    for unit, sign in itertools.product((1e-9, 1.0, 1e9), (1, -1)):
        assert p_of_sign_flips([unit * sign * value for value in values]) == p_of_sign_flips(values)


def test_no_values_and_too_many_have_none():
    assert p_of_sign_flips([]) is None
    assert p_of_sign_flips([1.0]) is None
    assert p_of_sign_flips([1.0] * (MOST + 1)) is None
    assert p_of_sign_flips([0.0, 0.0]) == 1
