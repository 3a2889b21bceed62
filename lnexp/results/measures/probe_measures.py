"""Measure what a probe found: what claims can ask of the ``x`` and ``y`` that its recipe plots."""

import math
import statistics
from collections.abc import Callable

from lnexp.errors import UserError
from lnexp.results.evidence.probe_result import ProbeResult
from lnexp.theory.mean_field import log_gradient_norms


def mean(probed: ProbeResult) -> float:
    """Return the mean of y."""
    return statistics.fmean(probed.values("y"))


def least(probed: ProbeResult) -> float:
    """Return the least y."""
    return min(probed.values("y"))


def greatest(probed: ProbeResult) -> float:
    """Return the greatest y."""
    return max(probed.values("y"))


def first(probed: ProbeResult) -> float:
    """Return y at the least x."""
    return min(zip(probed.values("x"), probed.values("y"), strict=True))[1]


def last(probed: ProbeResult) -> float:
    """Return y at the greatest x."""
    return max(zip(probed.values("x"), probed.values("y"), strict=True))[1]


def slope(probed: ProbeResult) -> float:
    """Return by how much y grows when x grows by one, by least squares."""
    return _slope(probed, probed.values("x"), probed.values("y"))


def exponent(probed: ProbeResult) -> float:
    """Return the p of ``y ~ x^p``, by least squares of the logarithms."""
    return _slope(probed, _logarithms(probed, "x"), _logarithms(probed, "y"))


def growth(probed: ProbeResult) -> float:
    """Return the r of ``y ~ r^x``: the factor of y when x grows by one, by least squares of y's logarithm."""
    return math.exp(_slope(probed, probed.values("x"), _logarithms(probed, "y")))


def predicted_growth(probed: ProbeResult) -> float:
    """Return the growth of a Post-LN model's gradients along its layers by the count of :mod:`lnexp.theory.mean_field`.

    x is the layer; the count takes the measured ``source_variance`` of each. Layers are fitted as in :func:`growth`.
    """
    by_layer = sorted(zip(probed.values("x"), probed.column("source_variance"), strict=True))
    predicted = log_gradient_norms([variance for _, variance in by_layer])
    return math.exp(_slope(probed, [layer for layer, _ in by_layer], predicted))


def _logarithms(probed: ProbeResult, axis: str) -> list[float]:
    values = probed.values(axis)
    if min(values) <= 0:
        raise UserError(f"{probed.job.recipe.name}: {probed.job.arm.name} has {min(values)}, which has no logarithm")
    return [math.log(value) for value in values]


def _slope(probed: ProbeResult, x: list[float], y: list[float]) -> float:
    if len(set(x)) < 2:
        recipe, arm = probed.job.recipe, probed.job.arm.name
        raise UserError(f"{recipe.name}: {arm} has a single value of {recipe.plot['x']}, which gives no slope")
    return statistics.linear_regression(x, y).slope


PROBE_MEASURES: dict[str, Callable[[ProbeResult], float]] = {
    measure.__name__: measure
    for measure in (mean, least, greatest, first, last, slope, exponent, growth, predicted_growth)
}
