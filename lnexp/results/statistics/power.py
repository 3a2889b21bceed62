"""Compute how many seeds a claim needs to be decided, from the values of calibration seeds.

Of a comparison or an equivalence, the power is exact for normally distributed margins, by the noncentral t; of a
success rate, by the binomial.
"""

import math
from collections.abc import Callable, Sequence

from lnexp.errors import UserError
from lnexp.results.statistics.intervals import CONFIDENCE, Interval, share

POWER = 0.8
MOST = 200


def power_of_mean(n: int, mean: float, sd: float, confidence: float = CONFIDENCE) -> float:
    """Return the chance that Student's t interval of ``n`` margins is above zero, in the direction of their mean.

    Args:
        n: the number of seeds.
        mean, sd: of the margins, both in their unit.
        confidence: of the two-sided interval; 0.9 for a one-sided test at 5%.
    """
    if n < 2 or mean == 0:
        return 0.0
    if sd == 0:
        return 1.0
    from scipy.stats import nct, t

    return float(nct.sf(t.ppf((1 + confidence) / 2, n - 1), n - 1, math.sqrt(n) * abs(mean) / sd))


def power_of_margins(n: int, margins: Sequence[tuple[float, float]], confidence: float = CONFIDENCE) -> float:
    """Return a lower bound of the chance that all margins are found above zero, or that one is found below.

    With one margin it is exact; with the two of an equivalence the chances of a miss are added (Bonferroni).

    Args:
        n: the number of seeds.
        margins: mean and standard deviation of each condition's margin.
        confidence: of the two-sided interval.
    """
    failing = [power_of_mean(n, mean, sd, confidence) for mean, sd in margins if mean <= 0]
    if failing:
        return max(failing)
    return max(0.0, 1 - sum(1 - power_of_mean(n, mean, sd, confidence) for mean, sd in margins))


def spread(found: Interval, confidence: float) -> float:
    """Return the standard deviation over seeds behind an interval of a mean. Raises UserError for that of one seed."""
    if found.low is None or found.high is None:
        raise UserError("one seed has no spread")
    from scipy.special import stdtrit

    return (found.high - found.low) / 2 * math.sqrt(found.n) / float(stdtrit(found.n - 1, (1 + confidence) / 2))


def power_of_rate(n: int, rate: float, threshold: float) -> float:
    """Return the chance that Clopper and Pearson's interval of ``n`` runs leaves the threshold out, on the side of the
    rate.
    """
    from scipy.stats import binom

    chance = 0.0
    for successes in range(n + 1):
        found = share(successes, n)
        assert found is not None
        assert found.low is not None
        assert found.high is not None
        decided = found.low > threshold if rate > threshold else found.high < threshold
        chance += float(binom.pmf(successes, n, rate)) if decided else 0.0
    return chance


def seeds_needed(power: Callable[[int], float]) -> int | None:
    """Return the least number of seeds with a power of :data:`POWER`; None where :data:`MOST` are not enough.

    A binomial power oscillates with the number, so that they are tried one by one.
    """
    return next((n for n in range(2, MOST + 1) if power(n) >= POWER), None)


def checked_rate(rate: float) -> float:
    """Return a rate. Raises UserError where it is not between 0 and 1."""
    if not 0 <= rate <= 1:
        raise UserError(f"{rate}: a rate is between 0 and 1")
    return rate
