"""What figures and tables leave out."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lnexp.figures.panels import evenly_spaced


@given(st.integers(1, 200), st.integers(2, 10))
def test_both_ends_are_shown_and_nothing_twice(count, most):
    values = [float(value) for value in range(count)]
    shown = evenly_spaced(values, most)
    assert (shown[0], shown[-1]) == (values[0], values[-1])
    assert len(set(shown)) == len(shown) == min(count, most)


@pytest.mark.parametrize(("count", "shown"), [(3, [0, 1, 2]), (7, [0, 2, 4, 6])])
def test_few_are_all_shown(count, shown):
    assert evenly_spaced([float(value) for value in range(count)], 4) == shown
