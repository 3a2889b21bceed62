"""What to take of a sweep's placements and lengths of warm-up where the rate cannot be tuned."""

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from lnexp.recipes.grid import Grid, grid_of
from lnexp.recipes.recipe import Recipe
from lnexp.results.evidence.contract import CountedRun
from lnexp.results.measures.sweep_measures import SweepResults, finals_of
from lnexp.results.measures.sweep_summary import PlacementSummary, summaries_of


def choices_of(grid: Grid, summaries: Sequence[PlacementSummary]) -> list[tuple[PlacementSummary, str]]:
    """Return all placements with the shortest and with the longest warm-up, by their mean nll over all rates."""
    shortest, *_, longest = grid.warmups
    choices = [(one, warmup) for one in summaries for warmup in (shortest, longest)]
    return sorted(choices, key=lambda choice: _mean(choice[0].over_rates[choice[1]]))


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
    grid = grid_of(recipe)
    summaries = summaries_of(SweepResults(grid, finals_of(grid, runs)))
    (best, warmup), *_ = choices_of(grid, summaries)
    nll = {one.label: _mean(one.over_rates[warmup]) for one in summaries}
    return Untuned(best.label, grid.warmups[warmup], nll)


def _mean(by_seed: Mapping[int, float]) -> float:
    return sum(by_seed.values()) / len(by_seed)
