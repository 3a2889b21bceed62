"""What to take of a sweep's placements and lengths of warm-up where the rate cannot be tuned."""

import statistics
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from lnexp.recipes.grid import Grid
from lnexp.recipes.recipe import Recipe
from lnexp.results.evidence.contract import CountedRun
from lnexp.results.measures.sweep_measures import sweep_results
from lnexp.results.measures.sweep_summary import PlacementSummary, summaries_of


def choices_of(grid: Grid, summaries: Sequence[PlacementSummary]) -> list[tuple[PlacementSummary, str]]:
    """Return all placements with the shortest and with the longest warm-up, by their mean nll over all rates."""
    shortest, *_, longest = grid.warmups
    choices = [(one, warmup) for one in summaries for warmup in (shortest, longest)]
    return sorted(choices, key=lambda choice: statistics.fmean(choice[0].over_rates[choice[1]].values()))


class Untuned(NamedTuple):
    """What is best on average over the rates of a sweep.

    Attributes:
        placement: the label of the placement whose mean nll over all rates is the lowest.
        warmup: the length of its warm-up, in updates.
        nll: that mean for every placement with this warm-up, nats a token, by its label.
    """

    placement: str
    warmup: float
    nll: dict[str, float]


def best_untuned(recipe: Recipe, runs: Iterable[CountedRun]) -> Untuned:
    """Return the placement and the warm-up, the shortest or the longest, with the lowest mean nll over all rates."""
    results = sweep_results(recipe, runs)
    summaries = summaries_of(results)
    (best, warmup), *_ = choices_of(results.grid, summaries)
    nll = {one.label: statistics.fmean(one.over_rates[warmup].values()) for one in summaries}
    return Untuned(best.label, results.grid.warmups[warmup], nll)
