"""Compute the mean over seeds with Student's t interval, a share with Clopper and Pearson's, and their p-values.

Functions of scipy are imported where they are called: scipy.special takes a fifth of a second, scipy.stats a half.
"""

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass

CONFIDENCE = 0.95
#: What pages say of :func:`spread_of`.
HOW_SPREAD = """\
Mean over seeds with its 95% interval (Student's t); where some runs of an arm train and others do not, or \
the interval would reach beyond what is possible, with the least and the greatest of its runs in parentheses."""


@dataclass(frozen=True)
class Interval:
    """A mean over ``n`` seeds, or a share of ``n`` runs, with its interval.

    ``low`` and ``high`` are None for the mean over a single seed, and where :func:`margin_interval` leaves them out.
    """

    mean: float
    low: float | None
    high: float | None
    n: int

    def __str__(self) -> str:
        if self.low is None or self.high is None:
            return f"{self.mean:z.{_places(abs(self.mean))}f} (n={self.n})"
        places = _places(self.high - self.low or abs(self.mean))
        # an end below zero keeps its sign, which says that zero lies within
        return f"{self.mean:z.{places}f} [{self.low:.{places}f}, {self.high:.{places}f}] (n={self.n})"


def _places(width: float) -> int:
    """Return two decimal places, or as many as tell the ends of a narrow interval apart, or a small mean from zero."""
    return 2 if width <= 0 or width >= 0.05 else min(8, 1 - math.floor(math.log10(width)))


@dataclass(frozen=True)
class Range:
    """A mean over ``n`` runs with the least and the greatest of them, where an interval would say too little."""

    mean: float
    least: float
    greatest: float
    n: int

    def __str__(self) -> str:
        width = 0.0 if _are_alike((self.least, self.greatest)) else self.greatest - self.least
        places = _places(width or abs(self.mean))
        return f"{self.mean:z.{places}f} ({self.least:.{places}f} to {self.greatest:.{places}f}, n={self.n})"


def range_of(values: Sequence[float]) -> Range | None:
    """Return the mean of runs with their range; None for no values."""
    return Range(statistics.fmean(values), min(values), max(values), len(values)) if values else None


def interval(values: Sequence[float], confidence: float = CONFIDENCE) -> Interval | None:
    """Return the mean with Student's t interval, which suits few, normally distributed values; None for no values."""
    if not values:
        return None
    mean, n = statistics.fmean(values), len(values)
    if n == 1:
        return Interval(mean, None, None, 1)
    from scipy.special import stdtrit

    half = float(stdtrit(n - 1, (1 + confidence) / 2)) * _standard_error(values)
    return Interval(mean, mean - half, mean + half, n)


def spread_of(
    values: Sequence[float], divided: bool = False, low: float = -math.inf, high: float = math.inf
) -> Interval | Range | None:
    """Return the mean of runs with what says most of their spread; None for no values.

    Args:
        values: of the runs.
        divided: whether some of the runs succeed and others do not.
        low, high: the bounds of such values.

    Returns:
        The range of runs that are divided, or whose Student's t interval would reach beyond the bounds; otherwise the
        interval.
    """
    found = interval(values)
    if found is None or found.low is None or found.high is None:
        return found
    return range_of(values) if divided or found.low < low or found.high > high else found


def margin_interval(margins: Sequence[float], confidence: float = CONFIDENCE) -> Interval | None:
    """Return the interval that decides a claim: as :func:`interval`, without ends for one margin that all seeds have,
    where so many equal signs would be no less likely by chance than the interval is to miss.

    Student's t takes their spread for none. With a measure that takes few values, as a rate of seven, three seeds
    often agree.
    """
    found = interval(margins, confidence)
    if found is None or not _are_alike(margins) or 2 * _all_of_one_sign(len(margins)) < 1 - confidence:
        return found
    return Interval(found.mean, None, None, found.n)


def _are_alike(values: Sequence[float]) -> bool:
    """Return whether all values are the same, but for rounding."""
    return max(values) - min(values) <= 1e-9 * max(map(abs, values))


def _all_of_one_sign(n: int) -> float:
    """Return the chance that ``n`` values are all positive where either sign is as likely: a sign test's p-value."""
    return 0.5**n


def p_not_above(values: Sequence[float]) -> float | None:
    """Return the p-value of Student's one-sided t test that the mean is not above zero; None for fewer than two values.

    That of a sign test where all values are equal. The p-value for the opposite, that it is not below zero, is one
    minus this.
    """
    if len(values) < 2:
        return None
    mean = statistics.fmean(values)
    if _are_alike(values):
        by_chance = _all_of_one_sign(len(values))
        return 0.5 if mean == 0 else by_chance if mean > 0 else 1 - by_chance
    from scipy.special import stdtr

    return float(stdtr(len(values) - 1, -mean / _standard_error(values)))


def _standard_error(values: Sequence[float]) -> float:
    return statistics.stdev(values) / math.sqrt(len(values))


def share(successes: int, n: int) -> Interval | None:
    """Return the share of successes among ``n`` runs with Clopper and Pearson's 95% interval; None for no runs."""
    if not n:
        return None
    from scipy.special import betaincinv

    tail = (1 - CONFIDENCE) / 2
    low = float(betaincinv(successes, n - successes + 1, tail)) if successes else 0.0
    high = float(betaincinv(successes + 1, n - successes, 1 - tail)) if successes < n else 1.0
    return Interval(successes / n, low, high, n)


def p_of_share(successes: int, n: int, rate: float) -> float:
    """Return the two-sided p-value of a success rate: twice the smaller binomial tail, at most one.

    It is below 5% exactly where Clopper and Pearson's 95% interval of ``successes`` among ``n`` leaves ``rate`` out.
    """
    from scipy.special import bdtr, bdtrc

    at_most = float(bdtr(successes, n, rate))
    at_least = float(bdtrc(successes - 1, n, rate)) if successes else 1.0
    return min(1.0, 2 * min(at_most, at_least))
