"""Locate published results, and read their tables."""

from pathlib import Path
from typing import TYPE_CHECKING

from lnexp.files import check_regular

if TYPE_CHECKING:
    import pandas as pd


def result_folders(results_dir: Path) -> list[Path]:
    """Return the folders ``<profile>/<data>/<recipe>`` of everything that was collected or probed."""
    return sorted(path.parent for path in results_dir.glob("*/*/*/verdicts.json"))


def read_table(path: Path) -> "pd.DataFrame":
    """Read a CSV of results, every number exactly as it was written.

    Raises:
        UserError: where it is no regular file.
        OSError, ValueError: where it cannot be read.
    """
    import pandas as pd  # here, for it takes half a second, and most commands read no table

    check_regular(path)
    return pd.read_csv(path, float_precision="round_trip", dtype={"identity": str}, low_memory=False)
