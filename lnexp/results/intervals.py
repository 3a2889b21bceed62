"""Compute the mean over seeds and its 95% interval."""

import math
import statistics
from dataclasses import dataclass

CONFIDENCE = 0.95


@dataclass(frozen=True)
class Interval:
    """A mean over ``n`` seeds with its 95% interval; ``low`` and ``high`` are None for a single seed."""

    mean: float
    low: float | None
    high: float | None
    n: int

    def __str__(self) -> str:
        if self.low is None or self.high is None:
            return f"{self.mean:.2f} (n={self.n})"
        places = _places(self.high - self.low)
        return f"{self.mean:.{places}f} [{self.low:.{places}f}, {self.high:.{places}f}] (n={self.n})"


def _places(width: float) -> int:
    """Return two decimal places, or as many as tell the ends of a narrow interval apart."""
    return 2 if width <= 0 or width >= 0.05 else min(8, 1 - math.floor(math.log10(width)))


def interval(values: list[float]) -> Interval | None:
    """Return the mean with Student's t interval, which suits few, normally distributed values; None for no values."""
    if not values:
        return None
    mean, n = statistics.fmean(values), len(values)
    if n == 1:
        return Interval(mean, None, None, 1)
    # here, for it takes a fifth of a second; scipy.stats has Student's t quantile too, and takes half a second
    from scipy.special import stdtrit

    half = float(stdtrit(n - 1, (1 + CONFIDENCE) / 2)) * statistics.stdev(values) / math.sqrt(n)
    return Interval(mean, mean - half, mean + half, n)
