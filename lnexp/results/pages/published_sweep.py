"""What templates of pages ask of a recipe with a sweep: its tables, rates, costs, and what predicts a run's end."""

from collections.abc import Sequence
from functools import cached_property
from pathlib import Path

from lnexp.recipes.grid import grid_of
from lnexp.recipes.recipe import Recipe
from lnexp.results.evidence.contract import CountedRun
from lnexp.results.measures.sweep_measures import SweepResults, sweep_results
from lnexp.results.pages.prediction_page import prediction_in_short, prediction_in_words, read_early
from lnexp.results.pages.sweep_in_words import best_rates, by_highest_rates, cost, of_each
from lnexp.results.pages.sweep_page import sweep_page
from lnexp.results.pages.sweep_untuned import Untuned, best_untuned


class PublishedSweep:
    """The published runs of a recipe with a sweep, as a template asks for them.

    Args:
        recipe: the recipe, with a sweep.
        runs: its runs that count.
        path: the folder of its results.
    """

    def __init__(self, recipe: Recipe, runs: Sequence[CountedRun], path: Path):
        self._recipe, self._runs, self._path = recipe, runs, path

    @property
    def page(self) -> str:
        """Its tables, in Markdown."""
        return sweep_page(self._recipe, self._runs)

    @property
    def rates(self) -> list[str]:
        """Its rates, as ``0.001``."""
        return [f"{rate:g}" for rate in grid_of(self._recipe).rates.values()]

    @cached_property
    def nlls(self) -> SweepResults:
        """The final nlls: of its best arm, and the line that a good run is below."""
        return sweep_results(self._recipe, self._runs)

    @property
    def best_rates(self) -> dict[str, list[str]]:
        """The best rates without warm-up and with the longest, by the label of a placement."""
        return of_each(self._recipe, self._runs, best_rates)

    @property
    def best_untuned(self) -> Untuned:
        """What is best on average over its rates, see :func:`.sweep_untuned.best_untuned`."""
        return best_untuned(self._recipe, self._runs)

    @property
    def placements_by_highest_rates(self) -> dict[tuple[str, str], list[str]]:
        """The labels of its placements, by the highest rates without warm-up and with the longest at which all of their
        runs are good, the highest first.
        """
        return by_highest_rates(self._recipe, self._runs)

    @property
    def costs(self) -> dict[str, str]:
        """What no warm-up costs in final nll, nats a token, each at its best rate, by the label of a placement."""
        return of_each(self._recipe, self._runs, cost)

    @property
    def prediction(self) -> str:
        """Which early number of its runs tells how they end, in words; empty where nothing was tested."""
        return prediction_in_words(self._recipe, self._runs, read_early(self._path))

    @property
    def prediction_in_short(self) -> str:
        """What :attr:`prediction` compares, as a part of a sentence; empty where nothing was tested."""
        return prediction_in_short(self._recipe, self._runs, read_early(self._path))
