"""Hold what a probe measured, and make its table."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from lnexp.errors import UserError
from lnexp.hashing import short_hash
from lnexp.recipes.jobs import Job

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class ProbeResult:
    """One arm, probed with one seed.

    Attributes:
        job: which arm and seed.
        rows: what the probe measured.
        is_the_papers: whether it is of the paper's model on the paper's corpus.
        data: the corpus, or what stands for one.
        counts: always true, since a probe that was not completed has no result.
        diverged: always false, since nothing is trained.
    """

    job: Job
    rows: Sequence[dict]
    is_the_papers: bool = False
    data: str = ""
    counts: bool = True
    diverged: bool = False

    @property
    def identity(self) -> str:
        """Names what was measured: eight hex digits of recipe, arm, seed and corpus."""
        recipe = self.job.recipe
        return short_hash([recipe.measurement, recipe.settings, self.job.arm.overrides, self.job.seed, self.data])

    def values(self, axis: str) -> list[float]:
        """Return what the recipe plots along an axis, ``x`` or ``y``, of the rows that have both."""
        return self.column(self.job.recipe.plot[axis])

    def column(self, name: str) -> list[float]:
        """Return a column of the rows that have the x and the y of the recipe's plot.

        Raises:
            UserError: where one of them lacks it, or there is none.
        """
        plot = self.job.recipe.plot
        plotted = [row for row in self.rows if plot["x"] in row and plot["y"] in row]
        of_arm = f"{self.job.recipe.name}: {self.job.arm.name}"
        if not plotted:
            raise UserError(f"{of_arm}: no row has both of what its plot asks for, {plot['x']} and {plot['y']}")
        if not all(name in row for row in plotted):
            raise UserError(f"{of_arm} has no column {name}")
        return [row[name] for row in plotted]


def rows_table(results: Sequence[ProbeResult]) -> "pd.DataFrame":
    """Return ``measurements.csv``: a row for every row of every arm and seed."""
    import pandas as pd  # here, for verify.py needs the rest of this module and no table

    return pd.DataFrame(
        [
            {"recipe": result.job.recipe.name, "arm": result.job.arm.name, "seed": result.job.seed, **row}
            for result in results
            for row in result.rows
        ]
    )
