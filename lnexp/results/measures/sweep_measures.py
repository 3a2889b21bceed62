"""Measure sets of arms that differ in their rate, in their warm-up or in both: a value for every seed of a set.

All are of the final nll: the validation nll of the last epoch, nats a token, or the recipe's ``initial_nll`` where that
is less or the run diverged. So no run is left out. A seed has a value where all arms of the set have a run of it that
is over.
"""

import math
import statistics
from collections.abc import Callable, Iterable, Mapping
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

from lnexp.recipes.grid import RATE, WARMUP, Grid, grid_of
from lnexp.recipes.recipe import Recipe
from lnexp.result_tables import rows_over
from lnexp.results.evidence.by_arm import counted_by_arm
from lnexp.results.evidence.contract import CountedRun
from lnexp.tasks.measures import last_nll

if TYPE_CHECKING:
    import pandas as pd

#: Final nll by arm and seed.
Finals = Mapping[str, Mapping[int, float]]


def final_nll(last: float | None, diverged: bool, initial: float) -> float:
    """Return what a run that is over counts with, nats a token.

    Args:
        last: its last validation nll that was finite; None where it has none.
        diverged: whether the run did.
        initial: the nll before training.
    """
    return initial if last is None or diverged else min(last, initial)


def finals_of(grid: Grid, runs: Iterable[CountedRun]) -> Finals:
    """Return the final nlls of runs; those that are not over have none."""
    initial = grid.sweep.initial_nll
    return {
        arm: {run.job.seed: final_nll(last_nll(run), run.diverged, initial) for run in of_arm}
        for arm, of_arm in counted_by_arm(runs).items()
    }


def finals_of_table(grid: Grid, runs: "pd.DataFrame") -> Finals:
    """Return the final nlls of ``runs.csv``."""
    finals: dict[str, dict[int, float]] = {}
    for run in rows_over(runs).to_dict("records"):
        last = None if math.isnan(run["last_valid_nll"]) else float(run["last_valid_nll"])
        value = final_nll(last, run["status"] == "diverged", grid.sweep.initial_nll)
        finals.setdefault(run["arm"], {})[int(run["seed"])] = value
    return finals


class SweptSet(NamedTuple):
    """A set of arms.

    Attributes:
        grid: of all arms.
        rates, warmups: by arm, in the order of the arms.
        by_seed: the final nll of every arm, by seed.
        line: the nll that a good run is below; None where arms of the recipe have no run.
    """

    grid: Grid
    rates: Mapping[str, float]
    warmups: Mapping[str, float]
    by_seed: Mapping[int, Mapping[str, float]]
    line: float | None


def lr_sensitivity(of: SweptSet) -> dict[int, float]:
    """Return by how much the final nll is above the lowest over the rates, the mean over the rates, nats a token:
    E[min(ℓ(A(η)), ℓ₀) − ℓ*] over η, which Wortsman and others define (2023, "Small-scale proxies for large-scale
    Transformer training instabilities", section 2.2). The lowest is that of each seed.
    """
    return {seed: statistics.fmean(nll.values()) - min(nll.values()) for seed, nll in of.by_seed.items()}


def mean_nll(of: SweptSet) -> dict[int, float]:
    """Return the mean of the final nll over the rates: what a rate that is drawn from them gives on average."""
    return {seed: statistics.fmean(nll.values()) for seed, nll in of.by_seed.items()}


def tuned_nll(of: SweptSet) -> dict[int, float]:
    """Return the final nll at the rate, or the rate and the warm-up, whose mean over seeds is the lowest. One that
    was chosen for every seed by itself would be lower the more its runs scatter. This one still is, a little, the more
    of its rates are about as good, because it is chosen by the seeds that are compared.
    """
    if not of.by_seed:
        return {}
    arm = best_arm(of)
    return {seed: nll[arm] for seed, nll in of.by_seed.items()}


def best_arm(of: SweptSet) -> str:
    """Return the arm whose mean final nll over seeds is the lowest; the set must have a seed."""
    return min(of.rates, key=lambda arm: statistics.fmean(nll[arm] for nll in of.by_seed.values()))


def best_lr(of: SweptSet) -> dict[int, float]:
    """Return the rate at which a seed's final nll is the lowest; zero where no rate gives a good run, which stands for
    none.
    """
    if of.line is None:
        return {}
    best = {seed: min(nll, key=nll.__getitem__) for seed, nll in of.by_seed.items()}
    return {seed: of.rates[arm] if of.by_seed[seed][arm] < of.line else 0.0 for seed, arm in best.items()}


def shortest_warmup(of: SweptSet) -> dict[int, float]:
    """Return the shortest warm-up, in updates, whose final nll is at most ``within`` above the lowest over the lengths
    at this rate; twice the longest length where no length gives a good run, which stands for none.
    """
    if of.line is None:
        return {}
    return {seed: _shortest(of, nll, of.line) for seed, nll in of.by_seed.items()}


def _shortest(of: SweptSet, nll: Mapping[str, float], line: float) -> float:
    least = min(nll.values())
    if least >= line:
        return none_is_enough(of.grid)
    return min(of.warmups[arm] for arm, value in nll.items() if value <= least + of.grid.sweep.within)


def none_is_enough(grid: Grid) -> float:
    """Return what stands for a warm-up where no length is enough: twice the longest, in updates."""
    return 2 * max(grid.warmups.values())


def good_share(of: SweptSet) -> dict[int, float]:
    """Return the share of the arms whose run is good: its final nll is below the recipe's line, which is the share
    ``good`` of the way from the lowest mean of an arm of the recipe to the nll before training.
    """
    if of.line is None:
        return {}
    return {seed: statistics.fmean(value < of.line for value in nll.values()) for seed, nll in of.by_seed.items()}


class SweepMeasure(NamedTuple):
    """A measure, the axes in which the arms of its sets may differ, and its least and its greatest possible value."""

    of: Callable[[SweptSet], dict[int, float]]
    sets: tuple[tuple[str, ...], ...]
    bounds: tuple[float, float] = (0.0, math.inf)


#: What claims can ask of sets of arms, by name.
SWEEP_MEASURES = {
    "lr_sensitivity": SweepMeasure(lr_sensitivity, ((RATE,),)),
    "mean_nll": SweepMeasure(mean_nll, ((RATE,),)),
    "tuned_nll": SweepMeasure(tuned_nll, ((RATE,), (RATE, WARMUP))),
    "best_lr": SweepMeasure(best_lr, ((RATE,),)),
    "shortest_warmup": SweepMeasure(shortest_warmup, ((WARMUP,),)),
    "good_share": SweepMeasure(good_share, ((RATE,), (WARMUP,), (RATE, WARMUP)), (0.0, 1.0)),
}


class SweepResults:
    """The final nlls of a recipe's arms, and what is measured of sets of them.

    Args:
        grid: of the recipe's arms.
        finals: their final nlls.
    """

    def __init__(self, grid: Grid, finals: Finals):
        self.grid, self.finals = grid, finals

    def measure(self, name: str, of: str) -> dict[int, float]:
        """Return the values of a measure of a set, by seed.

        Args:
            name: of the measure.
            of: the name of the set.
        """
        return SWEEP_MEASURES[name].of(self.swept(self.arms(name, of)))

    def arms(self, name: str, of: str) -> list[str]:
        """Return the names of the arms of a set that a measure can be asked of."""
        return sets_of(self.grid, name)[of]

    def swept(self, arms: list[str]) -> SweptSet:
        """Return a set of arms with the final nlls of the seeds that all of them have."""
        seeds = sorted(set.intersection(*(set(self.finals.get(arm, ())) for arm in arms)))
        by_seed = {seed: {arm: self.finals[arm][seed] for arm in arms} for seed in seeds}
        rates, warmups = self.grid.by_arm(RATE), self.grid.by_arm(WARMUP)
        line = self.line
        return SweptSet(
            self.grid, {arm: rates[arm] for arm in arms}, {arm: warmups[arm] for arm in arms}, by_seed, line
        )

    @cached_property
    def best(self) -> float | None:
        """The lowest mean nll of an arm; None where an arm of the recipe has no run that is over."""
        names = self.grid.names
        if not all(self.finals.get(arm) for arm in names):
            return None
        return min(statistics.fmean(self.finals[arm].values()) for arm in names)

    @property
    def line(self) -> float | None:
        """The nll that a good run is below; None where :attr:`best` is."""
        best, sweep = self.best, self.grid.sweep
        return None if best is None else best + sweep.good * (sweep.initial_nll - best)


def sets_of(grid: Grid, name: str) -> dict[str, list[str]]:
    """Return the sets that a measure can be asked of, by their names."""
    return {key: arms for parts in SWEEP_MEASURES[name].sets for key, arms in grid.sets_without(parts).items()}


def sweep_results(recipe: Recipe, runs: Iterable[CountedRun]) -> SweepResults:
    """Return the results of a recipe with a sweep. Raises UserError for one without."""
    grid = grid_of(recipe)
    return SweepResults(grid, finals_of(grid, runs))
