"""Write the tables and curves of any set of runs."""

import re
from pathlib import Path

from tabulate import tabulate

from lnexp.figures.draw import draw, remove
from lnexp.files import write_whole
from lnexp.hashing import short_hash
from lnexp.published import write_table
from lnexp.results import tables
from lnexp.results.collect import RunResult
from lnexp.results.mixed_code import mixed_code
from lnexp.results.run_set import curves_of

#: The longest name of a folder of a set; a longer one ends in a hash of the whole.
LONGEST_NAME = 100


def name_of_folder(title: str) -> str:
    """Return what the folder of a set of runs is called, given the places or the sweep that they are of."""
    name = re.sub(r"[^\w.=-]+", "_", title).strip("._")
    return name if len(name) <= LONGEST_NAME else f"{name[:LONGEST_NAME]}-{short_hash(title)}"


def write_set(runs: list[RunResult], left_out: list[str], folder: Path) -> str:
    """Write ``runs.csv``, ``epochs.csv``, ``table.md`` and the figure of runs, and return the table.

    Args:
        runs: of :func:`lnexp.results.run_set.results_of`.
        left_out: why others are not among them.
        folder: where to write; it is made.
    """
    recipe = runs[0].job.recipe
    folder.mkdir(parents=True, exist_ok=True)
    every = tables.runs_table(runs)
    write_table(folder / "runs.csv", every)
    write_table(folder / "epochs.csv", tables.epochs_table(runs))
    drawing = curves_of(runs)
    if drawing:
        draw(drawing, folder)
    else:
        remove("figure", folder)
    table = tabulate(tables.arms_table(recipe, every), headers="keys", tablefmt="github")
    problems = [*left_out, *(f"{run.identity}: {run.problem}" for run in runs if run.problem)]
    parts = [
        f"# {recipe.name}",
        f"Mean over seeds with its 95% interval (Student's t). {runs[0].task.test_note}",
        table,
        *(f"Mixed code: {line}." for line in mixed_code(runs)),
        *(["![curves](figure.png)"] if drawing else []),
        *(["Left out:\n\n" + "\n".join(f"- {problem}" for problem in problems)] if problems else []),
    ]
    write_whole(folder / "table.md", "\n\n".join(parts) + "\n")
    return table
