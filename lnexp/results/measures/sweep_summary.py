"""Sum up a sweep by placement: what it reaches, at which rate, with which warm-up, and how much that matters."""

import statistics
from collections.abc import Iterable
from dataclasses import dataclass

from lnexp.recipes.grid import RATE, WARMUP, Grid
from lnexp.results.measures.sweep_measures import SweepResults, best_arm, none_is_enough

#: Ends the name of a placement for which a rate may mean something else.
MARK = " †"


@dataclass(frozen=True)
class Cell:
    """The runs of one arm.

    Attributes:
        nll: their final nlls by seed, nats a token.
        good: how many of them are good; None where that is not known yet.
    """

    nll: dict[int, float]
    good: int | None

    @property
    def mean(self) -> float:
        """The mean over seeds."""
        return statistics.fmean(self.nll.values())

    @property
    def all_good(self) -> bool:
        """Whether all of its runs are good."""
        return self.good == len(self.nll)

    @property
    def mostly_good(self) -> bool:
        """Whether most of its runs are good."""
        return self.good is not None and 2 * self.good > len(self.nll)

    @property
    def divided(self) -> bool:
        """Whether some of its runs are good and others are not, so that Student's t says nothing of their mean."""
        return self.good is not None and 0 < self.good < len(self.nll)


@dataclass(frozen=True)
class PlacementSummary:
    """What a sweep says of one placement.

    Attributes:
        name, label: of the placement; the label is marked where a rate may mean something else.
        cells: by the name of a length of warm-up, and that of a rate.
        sensitivity: lr sensitivity by length of warm-up and seed.
        over_rates: the mean of the final nll over the rates, by length of warm-up and seed.
        tuned: the final nll at the best rate of a length of warm-up, by that and seed.
        best_rate: the name of that rate.
        shortest: the shortest warm-up that is enough, by rate and seed.
        best: the names of the warm-up and the rate whose mean is the lowest.
        best_nll: the final nll there, by seed.
    """

    name: str
    label: str
    cells: dict[str, dict[str, Cell]]
    sensitivity: dict[str, dict[int, float]]
    over_rates: dict[str, dict[int, float]]
    tuned: dict[str, dict[int, float]]
    best_rate: dict[str, str]
    shortest: dict[str, dict[int, float]]
    best: tuple[str, str]
    best_nll: dict[int, float]

    @property
    def cost_of_no_warmup(self) -> dict[int, float]:
        """By how much the final nll is larger without warm-up than with the longest, each at its best rate, by seed."""
        without, *_, longest = (self.tuned[warmup] for warmup in self.cells)
        return {seed: without[seed] - longest[seed] for seed in sorted(without.keys() & longest.keys())}

    def good_at(self, warmup: str) -> list[str]:
        """Return the names of the rates at which most runs with this warm-up are good."""
        return [rate for rate, cell in self.cells[warmup].items() if cell.mostly_good]

    def highest_good(self, warmup: str) -> str | None:
        """Return the name of the highest rate at which all runs with this warm-up are good; None for no rate."""
        return next((rate for rate, cell in reversed(self.cells[warmup].items()) if cell.all_good), None)

    def not_good_below(self, warmup: str) -> list[str]:
        """Return the names of the rates below :meth:`highest_good` at which not all runs with this warm-up are good."""
        cells, highest = self.cells[warmup], self.highest_good(warmup)
        below = list(cells)[: list(cells).index(highest)] if highest else []
        return [rate for rate in below if not cells[rate].all_good]

    def failing_above(self, warmup: str) -> list[str]:
        """Return the names of the rates above the best one at which most runs with this warm-up are not good."""
        rates, good = list(self.cells[warmup]), self.good_at(warmup)
        return [rate for rate in rates[rates.index(self.best_rate[warmup]) + 1 :] if rate not in good]

    def good_only_with_warmup_at(self) -> list[str]:
        """Return the names of the rates at which most runs are good with the longest warm-up, and not without.

        One length is asked, for the best of several would have most runs good by chance where warm-up does nothing.
        """
        without, *_, longest = self.cells
        return [rate for rate in self.good_at(longest) if not self.cells[without][rate].mostly_good]

    def divided(self, warmup: str) -> bool:
        """Return whether at some rate some runs with this warm-up are good and others are not."""
        return any(cell.divided for cell in self.cells[warmup].values())

    def width(self, warmup: str) -> float | None:
        """Return at how many rates a run with this warm-up is good, the mean over seeds; None where not known."""
        good = [cell.good for cell in self.cells[warmup].values()]
        runs = [len(cell.nll) for cell in self.cells[warmup].values()]
        if None in good:
            return None
        return sum(count / of for count, of in zip(good, runs, strict=True) if count is not None)


def summaries_of(results: SweepResults) -> list[PlacementSummary]:
    """Return the placements of which every arm has a run of one seed, the one that reaches the lowest nll first."""
    found = []
    for name in results.grid.labels:
        of = results.swept(results.grid.sets_without([RATE, WARMUP])[results.grid.set_name(rows=name)])
        if of.by_seed:
            found.append(_summary(results, name, best_arm(of)))
    return sorted(found, key=lambda one: statistics.fmean(one.best_nll.values()))


def not_shown(results: SweepResults, summaries: Iterable[PlacementSummary]) -> str:
    """Return a sentence on the placements that :func:`summaries_of` leaves out; empty where there is none."""
    shown = {one.name for one in summaries}
    missing = [label_of(results.grid, name) for name in results.grid.labels if name not in shown]
    return f"Not shown, because no seed has a run of all their arms: {', '.join(missing)}." if missing else ""


def _summary(results: SweepResults, name: str, best: str) -> PlacementSummary:
    grid = results.grid
    by_warmup = {warmup: grid.set_name(rows=name, over=warmup) for warmup in grid.warmups}
    by_rate = {rate: grid.set_name(rows=name, columns=rate) for rate in grid.rates}
    both = grid.set_name(rows=name)
    keys = grid.place_of(best)
    return PlacementSummary(
        name=name,
        label=label_of(grid, name),
        cells={
            warmup: {rate: _cell(results, grid.arm(name, rate, warmup)) for rate in grid.rates}
            for warmup in grid.warmups
        },
        sensitivity={warmup: results.measure("lr_sensitivity", of) for warmup, of in by_warmup.items()},
        over_rates={warmup: results.measure("mean_nll", of) for warmup, of in by_warmup.items()},
        tuned={warmup: results.measure("tuned_nll", of) for warmup, of in by_warmup.items()},
        best_rate={
            warmup: grid.place_of(best_arm(results.swept(results.arms("tuned_nll", of))))[RATE]
            for warmup, of in by_warmup.items()
        },
        shortest={rate: results.measure("shortest_warmup", of) for rate, of in by_rate.items()},
        best=(keys[WARMUP], keys[RATE]),
        best_nll=results.measure("tuned_nll", both),
    )


def label_of(grid: Grid, name: str) -> str:
    """Return what people read of a placement, marked where a rate may mean something else for it."""
    return grid.labels[name] + (MARK if name in grid.sweep.other_rate else "")


def mark_in_words(grid: Grid) -> str:
    """Return what :data:`MARK` says of placements; empty where none has it."""
    return f"{MARK.strip()} a rate may mean something else there" if grid.sweep.other_rate else ""


def length_in_words(grid: Grid, of_seeds: Iterable[float]) -> str:
    """Return the shortest warm-ups of seeds for people: one of them, or the least and the greatest."""
    found = sorted(set(of_seeds))
    words = ["no length" if length == none_is_enough(grid) else f"{length:g}" for length in found]
    return words[0] if len(words) == 1 else f"{words[0]} to {words[-1]}"


def _cell(results: SweepResults, arm: str) -> Cell:
    nll, line = dict(results.finals[arm]), results.line
    return Cell(nll, None if line is None else sum(value < line for value in nll.values()))
