"""Find the early number that tells best how runs end, by rank correlation, and judge it in a seed left out of that."""

import math
import statistics
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import pandas as pd

from lnexp.recipes.grid import PLACEMENT, RATE, Grid
from lnexp.results.evidence.published_evidence import WHICH
from lnexp.results.measures.sweep_measures import Finals

#: A number, and the update that it is of.
Predictor = tuple[str, int]
#: What was known before training, as the number of every update.
LR_MAX = "lr_max"
#: Columns that are no early number.
NO_NUMBERS = (*WHICH, "update")


@dataclass(frozen=True)
class HeldOut:
    """What was chosen by all seeds but one, and how it does in that one.

    Attributes:
        seed: the one.
        number, update: whose mean correlation over the other seeds is the greatest in size.
        correlation: of it with the final nll, as it is in ``seed``.
        in_order: the share of pairs of a good run and one that is not, of ``seed``, that it puts in order, as its
            correlation in the other seeds tells: the area under the ROC curve. None where all are good, or none is.
    """

    seed: int
    number: str
    update: int
    correlation: float
    in_order: float | None


class Prediction:
    """How early numbers go along with the final nll, over the runs of a sweep.

    Args:
        grid: of the arms.
        early: ``early.csv``.
        finals: the final nll by arm and seed, see :mod:`lnexp.results.measures.sweep_measures`.
    """

    def __init__(self, grid: Grid, early: pd.DataFrame, finals: Finals):
        rows = early.assign(
            final=[
                finals.get(arm, {}).get(seed, math.nan) for arm, seed in zip(early["arm"], early["seed"], strict=True)
            ],
            placement=[grid.place_of(arm)[PLACEMENT] for arm in early["arm"]],
        )
        rows[LR_MAX] = rows["arm"].map(grid.by_arm(RATE))
        self._rows = rows.dropna(subset=["final"])
        self._finals = finals
        self.numbers = [LR_MAX, *(str(column) for column in early if column not in NO_NUMBERS)]
        self.updates = sorted(int(update) for update in early["update"].unique())
        self.seeds = sorted(int(seed) for seed in self._rows["seed"].unique())

    def correlations(self, within: bool = False) -> dict[Predictor, dict[int, float]]:
        """Return Spearman's rank correlation of each number of each update with the final nll, by seed; runs without a
        number are left out of its own. NaN where it, or the final nll, is the same for all runs.

        Args:
            within: the mean of those over the runs of each placement, instead of one over all runs.
        """
        by = "placement" if within else "update"
        return {
            (number, update): {
                seed: fmean_known(_rank_correlation(part, number) for _, part in self._at(update, seed).groupby(by))
                for seed in self.seeds
            }
            for update in self.updates
            for number in self.numbers
        }

    def _at(self, update: int, seed: int) -> pd.DataFrame:
        return self._rows[(self._rows["update"] == update) & (self._rows["seed"] == seed)]

    def of_the_same_arm(self) -> dict[int, float]:
        """Return the correlation of a seed's final nlls with the means of the same arms in the other seeds, by seed:
        what a number could reach that told the arm and nothing of the run.
        """
        if len(self.seeds) < 2:
            return {}
        table = pd.DataFrame(self._finals).T[self.seeds]
        return {
            seed: _rank_correlation(
                pd.DataFrame({"others": table.drop(columns=seed).mean(axis=1), "final": table[seed]}), "others"
            )
            for seed in self.seeds
        }

    def held_out(self, line: float) -> list[HeldOut]:
        """Return, for each seed, the predictor that the others choose, and what it tells of this one; empty where there
        is one seed alone.

        Args:
            line: the nll that a good run is below.
        """
        early = {key: by_seed for key, by_seed in self.correlations().items() if key[0] != LR_MAX}
        return [self._chosen(early, seed, line) for seed in self.seeds] if len(self.seeds) > 1 else []

    def _chosen(self, early: dict[Predictor, dict[int, float]], seed: int, line: float) -> HeldOut:
        means = {
            key: fmean_known(value for other, value in by_seed.items() if other != seed)
            for key, by_seed in early.items()
        }
        number, update = max(means, key=lambda key: 0.0 if math.isnan(means[key]) else abs(means[key]))
        rows = self._at(update, seed).dropna(subset=[number])
        said = rows[number] * math.copysign(1.0, means[number, update])
        in_order = _in_order((rows["final"] >= line).tolist(), said.tolist())
        return HeldOut(seed, number, update, early[number, update][seed], in_order)


def fmean_known(values: Iterable[float]) -> float:
    """Return the mean of the values that are not NaN; NaN where all are."""
    known = [value for value in values if not math.isnan(value)]
    return statistics.fmean(known) if known else math.nan


def _rank_correlation(rows: pd.DataFrame, number: str) -> float:
    """Return Spearman's of a column with ``final``; NaN where either is the same in all rows."""
    both = rows[[number, "final"]].dropna()
    if min(both[column].nunique() for column in both) < 2:
        return math.nan
    return float(both[number].corr(both["final"], method="spearman"))


def _in_order(failed: Sequence[bool], said: Sequence[float]) -> float | None:
    from sklearn.metrics import roc_auc_score  # here: it takes a second

    return float(roc_auc_score(failed, said)) if len(set(failed)) == 2 else None


def most_often(chosen: Iterable[HeldOut]) -> list[tuple[Predictor, int]]:
    """Return how many seeds each predictor was chosen for, the most frequent first."""
    return Counter((one.number, one.update) for one in chosen).most_common()
