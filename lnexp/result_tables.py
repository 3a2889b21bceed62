"""Find folders of results; read and write their tables."""

import csv
import io
import math
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from lnexp.errors import UserError
from lnexp.files import read_regular, write_whole
from lnexp.printable import NOT_PRINTABLE, has_name, one_line
from lnexp.runs.status import DONE
from lnexp.schema import twice

if TYPE_CHECKING:
    import pandas as pd


def result_folders(results_dir: Path) -> list[Path]:
    """Return the folders ``<profile>/<data>/<recipe>`` of everything that was collected or probed."""
    return sorted(path.parent for path in results_dir.glob("*/*/*/verdicts.json") if has_name(path.parent, 3))


#: What a column has: names, which no row lacks, whole numbers, or numbers, which rows may lack.
Kind = Literal["name", "whole", "number"]
WORDS: dict[Kind, str] = {"name": "a name", "whole": "a whole number", "number": "a finite number, or none,"}
OF_RUN: dict[str, Kind] = {"arm": "name", "seed": "whole", "identity": "name"}
#: The columns of tables that commands rely on; others may have anything.
COLUMNS: dict[str, dict[str, Kind]] = {
    "runs.csv": {
        **OF_RUN, "recipe": "name", "model": "name", "optimizer": "name", "lr_schedule": "name", "status": "name",
        "lr_max": "number", "warmup_updates": "whole", "epochs": "whole", "best_valid_nll": "number",
        "last_valid_nll": "number", "seconds": "number",
    },
    "epochs.csv": {
        **OF_RUN, "epoch": "whole", "update": "whole", "valid_loss": "number", "valid_nll": "number", "lr": "number",
        "seconds": "number", "tokens_per_second": "number",
    },
    "probes.csv": {**OF_RUN, "update": "whole", "side": "name", "layer": "whole"},
    "snapshots.csv": {**OF_RUN, "update": "whole", "side": "name", "layer": "whole"},
    "early.csv": {**OF_RUN, "update": "whole"},
    "measurements.csv": {"arm": "name", "seed": "whole"},
}  # fmt: skip
#: Columns that a task names, or that older tables lack.
NUMBERS = (
    "best_valid_", "last_valid_", "valid_", "whole_valid_", "test_", "averaged_test_", "train_loss", "grad_norm",
    "mean_grad_norm", "core_seconds", "output", "before_norm", "hidden_", "attention_", "gradient_norm",
    "relative_update", "angular_update", "update_rms", "log_z", "sharpness", "encoder_gradient_share",
    "state_change",
)  # fmt: skip
#: The columns that tell the rows of a table apart.
APART = {
    "runs.csv": ["arm", "seed"],
    "epochs.csv": ["arm", "seed", "epoch"],
    "snapshots.csv": ["arm", "seed", "update", "side", "layer"],
    "early.csv": ["arm", "seed", "update"],
}


def read_table(path: Path) -> "pd.DataFrame":
    """Read a CSV of results, every number exactly as it was written.

    Raises:
        UserError: where it cannot be read, or does not have the columns of a table of its name.
        FileNotFoundError: where there is none.
    """
    try:
        return _parsed(path.name, read_regular(path)).copy()
    except FileNotFoundError:
        raise
    except (OSError, ValueError) as error:
        raise UserError(f"{path}: malformed ({one_line(str(error))})") from error


@lru_cache(maxsize=8)  # those of a folder, which are read several times
def _parsed(name: str, text: str) -> "pd.DataFrame":
    """Return a table by its name and its text. Raises ValueError where it does not have the columns of that name."""
    import pandas as pd  # here, for it takes half a second, and most commands read no table

    if found := NOT_PRINTABLE.search(text := text.replace("\r\n", "\n")):
        raise ValueError(f"{found[0]!a} in it")
    head = next(csv.reader([text.partition("\n")[0]]), [])
    if len(set(head)) < len(head):
        raise ValueError(twice(head))
    table = pd.read_csv(
        io.StringIO(text),
        float_precision="round_trip",
        dtype=dict.fromkeys(_names(name, head), str),
        keep_default_na=False,  # an arm may be called None
        na_values=[""],
        low_memory=False,
    )
    _check(name, table)
    if (columns := APART.get(name)) and table.duplicated(columns).any():
        raise ValueError(f"two rows with one {', '.join(columns)}")
    return table


def _names(name: str, head: list[str]) -> list[str]:
    """Return the columns of a table that have text, be it ``1e-3``."""
    if name == "outcomes.csv" and "outcome" in head:  # behind the values of the recipe's axes
        return head[: head.index("outcome") + 1]
    kinds = COLUMNS.get(name, OF_RUN)
    return ["identity", *(column for column, kind in kinds.items() if kind == "name")]


def rows_over(runs: "pd.DataFrame") -> "pd.DataFrame":
    """Return the rows of ``runs.csv`` whose runs are over: finished or diverged."""
    return runs[runs["status"].isin(DONE)]


def write_table(path: Path, table: "pd.DataFrame") -> None:
    """Write a table of results. Raises ValueError where :func:`read_table` would refuse its columns."""
    _check(path.name, table)
    write_whole(path, table.to_csv(index=False))


def _check(name: str, table: "pd.DataFrame") -> None:
    """Raise ValueError where a table of this name lacks a column, or has another kind of values in one."""
    columns = COLUMNS.get(name, {})
    if missing := [column for column in columns if column not in table]:
        raise ValueError(f"no column {', '.join(missing)}")
    kinds: dict[str, Kind] = {str(column): "number" for column in table if str(column).startswith(NUMBERS)}
    for column, kind in (kinds | columns).items():
        if len(table) and not _fits(kind, table[column]):
            raise ValueError(f"column {column}: not {WORDS[kind]} in every row")


def _fits(kind: Kind, values: "pd.Series") -> bool:
    """Return whether a column has values of a kind throughout."""
    from pandas.api.types import is_bool_dtype, is_integer_dtype, is_numeric_dtype

    if kind == "name":
        return bool(values.notna().all())
    if kind == "whole":
        return is_integer_dtype(values) and bool((values >= 0).all())
    known = values.dropna()
    if known.empty:
        return True
    return is_numeric_dtype(known) and not is_bool_dtype(known) and math.isfinite(known.abs().max())
