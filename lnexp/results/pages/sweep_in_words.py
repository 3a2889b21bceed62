"""Say in words what a sweep showed of a placement: rates, lengths of warm-up, and what no warm-up costs."""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TypeVar

from lnexp.recipes.grid import Grid
from lnexp.recipes.recipe import Recipe
from lnexp.results.evidence.contract import CountedRun
from lnexp.results.measures.sweep_measures import sweep_results
from lnexp.results.measures.sweep_summary import Cell, PlacementSummary, length_in_words, summaries_of
from lnexp.results.statistics.intervals import spread_of

T = TypeVar("T")


def of_each(recipe: Recipe, runs: Iterable[CountedRun], say: Callable[[Grid, PlacementSummary], T]) -> dict[str, T]:
    """Return what is said of each placement of a sweep, by its label.

    Args:
        recipe: one with a sweep.
        runs: its runs.
        say: says it, as :func:`highest_rates` and :func:`cost` do.
    """
    results = sweep_results(recipe, runs)
    return {one.label: say(results.grid, one) for one in summaries_of(results)}


def lengths(grid: Grid, one: PlacementSummary) -> list[str]:
    """Return the shortest warm-up that is enough at each rate, as ``60`` or ``120 to 300`` updates."""
    return [length_in_words(grid, of.values()) for of in one.shortest.values()]


def highest_rates(grid: Grid, one: PlacementSummary) -> list[str]:
    """Return the highest rate at which all runs are good with each warm-up, as ``0.004``.

    It is a dash where there is none, ``≥ 0.032`` where no higher one was tried, and ``0.004 (not all at 0.001)`` where
    at a lower one not all are good.
    """
    return [_highest_rate(grid, one, warmup) + _not_at(grid, one.not_good_below(warmup)) for warmup in grid.warmups]


def _highest_rate(grid: Grid, one: PlacementSummary, warmup: str) -> str:
    *_, last = grid.rates
    rate = one.highest_good(warmup)
    return f"{'≥ ' if rate == last else ''}{grid.rates[rate]:g}" if rate else "–"


def _not_at(grid: Grid, rates: Iterable[str]) -> str:
    """Return ``(not all at 0.001)`` with a space before it; nothing where there are no rates."""
    listed = ", ".join(f"{grid.rates[rate]:g}" for rate in rates)
    return f" (not all at {listed})" if listed else ""


def by_highest_rates(recipe: Recipe, runs: Iterable[CountedRun]) -> dict[tuple[str, str], list[str]]:
    """Return the labels of a sweep's placements by what :func:`highest_rates` says, the highest rates first.

    Args:
        recipe: one with a sweep.
        runs: its runs.

    Returns:
        Labels by the highest rate without warm-up, and that with the longest. A label is followed by the lower rates
        at which not all runs are good, with either.
    """
    results = sweep_results(recipe, runs)
    grid = results.grid
    without_warmup, *_, with_longest = grid.warmups
    ends, order = (without_warmup, with_longest), [None, *grid.rates]
    found: dict[tuple[str, str], list[str]] = {}
    for one in sorted(
        summaries_of(results), key=lambda one: [-order.index(one.highest_good(warmup)) for warmup in ends]
    ):
        highest = (_highest_rate(grid, one, without_warmup), _highest_rate(grid, one, with_longest))
        gaps = {rate for warmup in ends for rate in one.not_good_below(warmup)}
        found.setdefault(highest, []).append(one.label + _not_at(grid, filter(gaps.__contains__, grid.rates)))
    return found


def cost(_: Grid, one: PlacementSummary) -> str:
    """Return what no warm-up costs in final nll, each at its best rate, with its 95% interval; a dash where neither
    without warm-up nor with the longest most runs are good at any rate.
    """
    warmups = list(one.cells)
    ends = (warmups[0], warmups[-1])
    if not any(map(one.good_at, ends)):
        return "–"
    divided = any(best_of(one, warmup).divided for warmup in ends)
    return text_of(one.cost_of_no_warmup, divided, least=-math.inf)


def best_rates(grid: Grid, one: PlacementSummary) -> list[str]:
    """Return the best rate without warm-up and that with the longest, each with whether it is an edge of the range."""
    without, *_, longest = one.cells
    return [rate_in_words(grid, one.best_rate[warmup]) for warmup in (without, longest)]


def best_of(one: PlacementSummary, warmup: str) -> Cell:
    """Return the runs with a warm-up at its best rate."""
    return one.cells[warmup][one.best_rate[warmup]]


def rate_in_words(grid: Grid, name: str) -> str:
    """Return a rate, and whether none lower or none higher was tried: a better one may lie beyond."""
    rates = list(grid.rates)
    edge = {rates[-1]: " (highest tried)", rates[0]: " (lowest tried)"} if len(rates) > 1 else {}
    return f"{grid.rates[name]:g}{edge.get(name, '')}"


def rates_in_words(grid: Grid, rates: Sequence[str]) -> str:
    """Return rates as a range where none in between is left out."""
    if not rates:
        return "no rate"
    order, shown = list(grid.rates), [f"{grid.rates[rate]:g}" for rate in rates]
    whole = order.index(rates[-1]) - order.index(rates[0]) + 1 == len(rates) > 1
    return f"{shown[0]} to {shown[-1]}" if whole else ", ".join(shown)


def text_of(by_seed: Mapping[int, float], divided: bool, least: float = 0.0) -> str:
    """Return the mean over seeds with its interval, or with the range where runs of an arm are divided, or the interval
    would reach below the least that is possible.
    """
    found = spread_of(list(by_seed.values()), divided, low=least)
    return str(found) if found else "–"
