"""Say in a ``table.md`` which runs stand behind it, what they cost, and which command trains one of them."""

from pathlib import Path

import pandas as pd
from tabulate import tabulate

from lnexp.result_tables import read_table, rows_over
from lnexp.results.evidence.made_with import all_said, differing
from lnexp.results.evidence.provenance import Provenance, read_provenance
from lnexp.runs.environment import Environment
from lnexp.seeds import seeds_in_words


def runs_part(folder: Path) -> list[str]:
    """Return the part on the runs of a folder of results, in Markdown; nothing for a probe's, which has none."""
    if not (folder / "runs.csv").exists():
        return []
    runs = read_table(folder / "runs.csv")
    over, provenance = rows_over(runs), read_provenance(folder)
    mixed = differing(_environments(over, provenance))
    rows = [_row(str(arm), of_arm, provenance, mixed) for arm, of_arm in over.groupby("arm", sort=False)]
    said = (
        "Every run is a row of [runs.csv](runs.csv); its epochs are in [epochs.csv](epochs.csv), and its command and "
        "machine, by its identity, in [provenance.json](provenance.json)."
    )
    of_several = f" Its runs differ in {' and '.join(mixed)}." if mixed else ""
    return ["## Runs", f"{said}{_cost(over)}{of_several}", tabulate(rows, headers="keys", tablefmt="github")]


def _environments(runs: pd.DataFrame, provenance: Provenance) -> list[Environment]:
    known = map(provenance.runs.get, runs.identity)
    return [run.environment if run else Environment() for run in known]


def _row(arm: str, runs: pd.DataFrame, provenance: Provenance, mixed: list[str]) -> dict[str, str]:
    """Return the row of an arm; ``mixed`` are the names of what differs within the table, which get a column each."""
    first = runs.sort_values("seed").identity.iloc[0]
    command = f"`{known.command}`" if (known := provenance.runs.get(first)) else "unknown"
    made = {name: all_said(name, _environments(runs, provenance)) for name in mixed}
    return {"arm": f"`{arm}`", "seeds": seeds_in_words(runs.seed), **made, "the first of them": command}


def _cost(runs: pd.DataFrame) -> str:
    """Return what the training of runs took; nothing where a table is older than that column."""
    if "core_seconds" not in runs or runs.core_seconds.isna().any():
        return ""
    seconds = runs.drop_duplicates("identity").core_seconds.sum()  # arms can share a run
    return f" Training took {seconds / 3600:.1f} core-hours, validation not included."
