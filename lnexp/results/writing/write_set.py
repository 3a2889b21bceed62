"""Write the tables and curves of any set of runs."""

import re
from pathlib import Path
from typing import Any

from tabulate import tabulate

from lnexp.figures.draw import draw, remove
from lnexp.figures.names import CURVES
from lnexp.files import write_whole
from lnexp.hashing import short_hash
from lnexp.result_tables import write_table
from lnexp.results.evidence.mixed_code import mixed_code
from lnexp.results.evidence.run_result import RunResult
from lnexp.results.pages.markup import without_markup
from lnexp.results.statistics.intervals import HOW_SPREAD
from lnexp.results.tables import run_tables
from lnexp.results.writing.run_set import curves_of

#: Columns whose values are in the labels where rows differ in them.
SETTINGS = ("lr_max", "T_warmup", "schedule")
#: The scores of an arm that may be equal, and how a row says that all runs of an arm are over.
WHICH = ("best", "last")
WHOLE = re.compile(r"(\d+) of \1")
#: The longest name of a folder of a set; a longer one ends in a hash of the whole.
LONGEST_NAME = 100


def name_of_folder(title: str) -> str:
    """Return what the folder of a set of runs is called, given the places or the sweep that they are of."""
    name = re.sub(r"[^\w.=-]+", "_", title).strip("._") or "here"
    return name if len(name) <= LONGEST_NAME else f"{name[:LONGEST_NAME]}-{short_hash(title)}"


def narrowed(rows: list[dict[str, Any]]) -> tuple[list[dict[str, Any]], str]:
    """Return the rows of a table without what every reader knows, and what is alike in all rows, in words.

    Left out are the arms' names, which mean nothing; columns of :data:`SETTINGS`; what was trained on, where it is
    alike; the last score, where it is the best; and the runs, where all are over and means say how many.
    """
    alike = {key: rows[0][key] for key in (*SETTINGS, "trained on") if len({row[key] for row in rows}) == 1}
    out = {"name", *SETTINGS, *alike}
    best, last = ([key for key in rows[0] if key.startswith(f"{which} valid") and "nll" not in key] for which in WHICH)
    if all(row[best[0]] == row[last[0]] for row in rows):
        out |= set(last)
    if all(WHOLE.fullmatch(row["runs"]) and "n=" in row[best[0]] for row in rows):
        out.add("runs")
    said = ", ".join(str(value) if key == "trained on" else f"{key} {value}" for key, value in alike.items())
    return [{key: value for key, value in row.items() if key not in out} for row in rows], said


def write_set(runs: list[RunResult], left_out: list[str], folder: Path) -> str:
    """Write ``runs.csv``, ``epochs.csv``, ``table.md`` and the figure of runs, and return the table.

    Args:
        runs: of :func:`lnexp.results.writing.run_set.results_of`.
        left_out: why others are not among them.
        folder: where to write; it is made.
    """
    recipe = runs[0].job.recipe
    folder.mkdir(parents=True, exist_ok=True)
    every = run_tables.runs_table(runs)
    every.insert(0, "setting", [run.job.arm.label for run in runs])
    write_table(folder / "runs.csv", every)
    write_table(folder / "epochs.csv", run_tables.epochs_table(runs))
    drawing = curves_of(runs)
    if drawing:
        draw(drawing, folder)
    else:
        remove(CURVES, folder)
    rows, alike = narrowed(run_tables.arms_table(recipe, every))
    table = tabulate(rows, headers="keys", tablefmt="github")
    problems = [*left_out, *(f"{run.identity}: {run.problem}" for run in runs if run.problem)]
    parts = [
        f"# {recipe.name}",
        f"{HOW_SPREAD} {runs[0].task.test_note}",
        table,
        *([f"Alike in all: {alike}."] if alike else []),
        *(f"Mixed code: {line}." for line in mixed_code(runs)),
        *(["![curves](figure.png)"] if drawing else []),
        *(["Left out:\n\n" + "\n".join(f"- {problem}" for problem in problems)] if problems else []),
    ]
    write_whole(folder / "table.md", without_markup("\n\n".join(parts) + "\n"))
    return table
