"""What a claim can ask of a probe: one function a measure, over what its recipe plots as ``x`` and ``y``."""

import math
import statistics
from collections.abc import Callable

from lnexp.results.probed import ProbeResult


def mean(probed: ProbeResult) -> float:
    """The mean of y."""
    return statistics.fmean(probed.values("y"))


def least(probed: ProbeResult) -> float:
    """The least y."""
    return min(probed.values("y"))


def greatest(probed: ProbeResult) -> float:
    """The greatest y."""
    return max(probed.values("y"))


def last(probed: ProbeResult) -> float:
    """y at the greatest x."""
    return max(zip(probed.values("x"), probed.values("y"), strict=True))[1]


def exponent(probed: ProbeResult) -> float:
    """The p of ``y ~ x^p``, by least squares of the logarithms."""
    return _slope([math.log(x) for x in probed.values("x")], [math.log(y) for y in probed.values("y")])


def growth(probed: ProbeResult) -> float:
    """The r of ``y ~ r^x``: by how much y is multiplied when x grows by one, by least squares of y's logarithm."""
    return math.exp(_slope(probed.values("x"), [math.log(y) for y in probed.values("y")]))


def _slope(x: list[float], y: list[float]) -> float:
    return statistics.linear_regression(x, y).slope


PROBE_MEASURES: dict[str, Callable[[ProbeResult], float]] = {
    measure.__name__: measure for measure in (mean, least, greatest, last, exponent, growth)
}
