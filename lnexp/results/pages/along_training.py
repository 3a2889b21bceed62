"""Say what runs had at an update, from the snapshots of a folder of results."""

from pathlib import Path
from statistics import median

from lnexp.errors import UserError
from lnexp.result_tables import read_table
from lnexp.results.tables.snapshots_table import MODEL, OF_LAYERS


class AlongTraining:
    """The snapshots of a folder of results.

    Args:
        folder: with ``snapshots.csv``.
    """

    def __init__(self, folder: Path):
        self._folder, self._table = folder, read_table(folder / "snapshots.csv")

    def at(self, update: int, column: str, arm: str, over: str = "mean") -> float:
        """Return the median over seeds of what an arm's runs had at an update, before it was made; sizes and changes
        are of the update itself.

        Args:
            update: one of the snapshots.
            column: of ``snapshots.csv``; ``train_loss`` is of the whole model, the others are of layers.
            arm: of the recipe.
            over: what of the layers' numbers: ``mean``, ``min`` or ``max``.

        Raises:
            UserError: where no run of the arm has a number there.
        """
        rows = self._table[(self._table["arm"] == arm) & (self._table["update"] == update)]
        of_layers = rows["side"] != MODEL
        known = rows[of_layers if column in OF_LAYERS else ~of_layers].dropna(subset=column)
        if known.empty:
            raise UserError(f"{self._folder}: has no {column} of {arm} at update {update}")
        return float(median(known.groupby("seed")[column].agg(over)))
