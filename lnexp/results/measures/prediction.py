"""Find the early number that tells best how runs end, by rank correlation, and judge it in a seed left out of that."""

import math
import statistics
from collections import Counter
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from functools import cached_property

import pandas as pd

from lnexp.recipes.grid import PLACEMENT, RATE, WARMUP, Grid
from lnexp.results.evidence.published_evidence import WHICH
from lnexp.results.measures.sweep_measures import Finals
from lnexp.results.statistics.in_order import share_in_order

#: A number, and the update that it is of.
Predictor = tuple[str, int]
#: What is known of every update before training: the peak rate, and the rate that a linear warm-up has reached by then.
LR_MAX, LR_REACHED = KNOWN_BEFORE = ("lr_max", "lr_reached")
#: The least share of each seed's runs that must have a number for it to be chosen; after a run diverged it has none.
LEAST = 0.95
#: Columns that are no early number.
NO_NUMBERS = (*WHICH, "update")


@dataclass(frozen=True)
class Judged:
    """How what was learnt from all seeds but one does in that one.

    Attributes:
        seed: the one.
        correlation: Spearman's rank correlation with the final nll in ``seed``, positive where its sign is that in the
            others.
        in_order: the share of pairs of a good run and one that is not, of ``seed``, that are put in order: the area
            under the ROC curve. None where all are good, or none is.
    """

    seed: int
    correlation: float
    in_order: float | None


@dataclass(frozen=True)
class HeldOut(Judged):
    """What was chosen by all seeds but one, and how it does in that one.

    Attributes:
        number, update: whose mean correlation over the other seeds is the greatest in size.
    """

    number: str
    update: int


class Prediction:
    """How early numbers go along with the final nll, over the runs of a sweep.

    Args:
        grid: of the arms.
        early: ``early.csv``.
        finals: the final nll by arm and seed, see :mod:`lnexp.results.measures.sweep_measures`; seeds that an arm lacks
            are left out.
    """

    def __init__(self, grid: Grid, early: pd.DataFrame, finals: Finals):
        rows = early.assign(
            final=[
                finals.get(arm, {}).get(seed, math.nan) for arm, seed in zip(early["arm"], early["seed"], strict=True)
            ],
            placement=[grid.place_of(arm)[PLACEMENT] for arm in early["arm"]],
        )
        rows[LR_MAX] = rows["arm"].map(grid.by_arm(RATE))
        rows[LR_REACHED] = rows[LR_MAX] * (rows["update"] / rows["arm"].map(grid.by_arm(WARMUP))).clip(upper=1)
        seeds = sorted(int(seed) for seed in early["seed"].unique())
        self.seeds = [seed for seed in seeds if all(seed in finals.get(arm, ()) for arm in grid.names)]
        self._rows = rows[rows["seed"].isin(self.seeds)]
        self._finals, self._arms = finals, len(grid.names)
        self.numbers = [*KNOWN_BEFORE, *(str(column) for column in early if column not in NO_NUMBERS)]
        self.updates = sorted(int(update) for update in early["update"].unique())

    def correlations(self, placements: Collection[str] = ()) -> dict[Predictor, dict[int, float]]:
        """Return Spearman's rank correlation of each number of each update with the final nll, by seed; runs without a
        number are left out of its own. NaN where it, or the final nll, is the same for all runs.

        Args:
            placements: return the mean of those over the runs of each of these, instead of one over all runs.
        """
        found: dict[Predictor, dict[int, float]] = {}
        for update in self.updates:
            for seed in self.seeds:
                parts = [
                    _rank_correlations(part[[*self.numbers, "final"]]) for part in self._parts(update, seed, placements)
                ]
                for number in self.numbers:
                    found.setdefault((number, update), {})[seed] = fmean_known(part[number] for part in parts)
        return found

    def _parts(self, update: int, seed: int, placements: Collection[str]) -> list[pd.DataFrame]:
        rows = self._at(update, seed)
        return [rows[rows["placement"] == placement] for placement in placements] if placements else [rows]

    def _at(self, update: int, seed: int) -> pd.DataFrame:
        return self._rows[(self._rows["update"] == update) & (self._rows["seed"] == seed)]

    def of_the_same_arm(self, line: float) -> list[Judged]:
        """Return how the mean final nll of the same arm in the other seeds does in each seed: what those seeds have
        told before a run begins, which is about what its arm tells, for they are few. Empty for one seed alone.

        Args:
            line: the nll that a good run is below.
        """
        if len(self.seeds) < 2:
            return []
        table = pd.DataFrame(self._finals).T[self.seeds]
        return [_judged(seed, table.drop(columns=seed).mean(axis=1), table[seed], line) for seed in self.seeds]

    def within_arms(self, predictors: Iterable[Predictor]) -> dict[Predictor, float]:
        """Return the correlation of numbers with the final nll where both are taken as differences from the mean of
        their arm, over all runs: what a number tells of a run beyond its arm. It is positive where its sign is that of
        the mean correlation over seeds.

        Args:
            predictors: the numbers, each with its update.
        """
        found = {}
        for number, update in predictors:
            rows = self._rows[self._rows["update"] == update].dropna(subset=[number])
            differences = rows[[number, "final"]] - rows.groupby("arm")[[number, "final"]].transform("mean")
            sign = math.copysign(1.0, statistics.fmean(self._overall[number, update].values()))
            found[number, update] = sign * float(_rank_correlations(differences)[number])
        return found

    def candidates(self, known_before: bool = False) -> list[Predictor]:
        """Return the numbers, with their updates, that :data:`LEAST` of the runs of every seed have, and that differ
        among these.

        Args:
            known_before: return those that were known before training, instead of those that were measured.
        """
        return [
            (number, update)
            for (number, update), by_seed in self._overall.items()
            if (number in KNOWN_BEFORE) is known_before
            and not any(math.isnan(value) for value in by_seed.values())
            and all(self._runs_with(number, update, seed) >= LEAST * self._arms for seed in self.seeds)
        ]

    def all_have(self, predictors: Iterable[Predictor]) -> bool:
        """Return whether every run has all of these numbers."""
        return all(self._runs_with(*key, seed) == self._arms for key in predictors for seed in self.seeds)

    def _runs_with(self, number: str, update: int, seed: int) -> int:
        return int(self._at(update, seed)[number].count())

    def held_out(self, line: float, known_before: bool = False) -> list[HeldOut]:
        """Return, for each seed, the predictor that the others choose, and what it tells of this one; empty where there
        is one seed alone, or nothing to choose.

        Args:
            line: the nll that a good run is below.
            known_before: see :meth:`candidates`.
        """
        candidates = self.candidates(known_before)
        if len(self.seeds) < 2 or not candidates:
            return []
        early = {key: self._overall[key] for key in candidates}
        return [self._chosen(early, seed, line) for seed in self.seeds]

    @cached_property
    def _overall(self) -> dict[Predictor, dict[int, float]]:
        return self.correlations()

    def _chosen(self, early: dict[Predictor, dict[int, float]], seed: int, line: float) -> HeldOut:
        means = {
            key: statistics.fmean(value for other, value in by_seed.items() if other != seed)
            for key, by_seed in early.items()
        }
        number, update = max(means, key=lambda key: abs(means[key]))
        rows, sign = self._at(update, seed).dropna(subset=[number]), math.copysign(1.0, means[number, update])
        found = _judged(seed, sign * rows[number], rows["final"], line)
        return HeldOut(seed, found.correlation, found.in_order, number, update)


def fmean_known(values: Iterable[float]) -> float:
    """Return the mean of the values that are not NaN; NaN where all are."""
    known = [value for value in values if not math.isnan(value)]
    return statistics.fmean(known) if known else math.nan


def _judged(seed: int, said: pd.Series, final: pd.Series, line: float) -> Judged:
    """Return how numbers that are to be the greater the worse a run of a seed ends go with its final nll."""
    correlation = float(_rank_correlations(pd.DataFrame({"said": said, "final": final}))["said"])
    return Judged(seed, correlation, share_in_order(final >= line, said))


def _rank_correlations(rows: pd.DataFrame) -> pd.Series:
    """Return Spearman's of each column with ``final``, over the rows with finite numbers; NaN where either is the same
    in all of them.
    """
    return rows.corr(method="spearman")["final"]


def most_often(chosen: Iterable[HeldOut]) -> list[tuple[Predictor, int]]:
    """Return how many seeds each predictor was chosen for, the most frequent first."""
    return Counter((one.number, one.update) for one in chosen).most_common()
