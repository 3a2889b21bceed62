"""Compute the exact p-value of an average margin by flipping the signs of its seeds, without a normal distribution."""

from collections.abc import Sequence

#: The most values whose sums are all counted: a million of them.
MOST = 20
#: The fewest values that can have a p-value below 5%: of five, all of one sign, it is 2/32.
FEWEST = 6


def p_of_sign_flips(values: Sequence[float]) -> float | None:
    """Return the two-sided p-value of Fisher's randomization test that values are spread symmetrically around zero
    (Fisher 1935, *The Design of Experiments*, section 21).

    It is the share of all 2ⁿ choices of the values' signs whose sum is as far from zero as theirs, or further. Margins
    of ``a > b`` are so spread where seeds of both arms could be exchanged; of ``a > 0.9 * b`` it is an assumption.

    Args:
        values: the margins of n seeds.

    Returns:
        The p-value; None for fewer than two values, and for more than :data:`MOST`.
    """
    if not 1 < len(values) <= MOST:
        return None
    import numpy as np

    sums = np.zeros(1)
    for value in values:
        sums = np.concatenate([sums + value, sums - value])
    rounding = 1e-9 * sum(map(abs, values))
    return float(np.mean(np.abs(sums) >= abs(sum(values)) - rounding))
