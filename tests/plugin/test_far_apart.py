"""Seeds that are given on lie far apart, however near those that were asked for."""

import numpy as np

from lnexp.plugin.far_apart import far_apart


def test_neighbours_are_far_apart_and_sums_with_epochs_fit_into_32_bits():
    found = np.array([far_apart(seed) for seed in range(1000)])
    assert np.diff(np.sort(found)).min() > 100
    assert found.min() >= 0
    assert found.max() < 2**31
