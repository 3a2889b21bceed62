"""Run ``scripts/show.py``: show one run."""

from rich.console import Console

from lnexp.cli import Parser, add_runs_option, one_line_errors
from lnexp.runs import records
from lnexp.runs.find import find_run
from lnexp.runs.run_summary import run_summary


def main() -> None:
    """``show.py RUN``: its state, its curves and its scores."""
    parser = Parser(description="Show one run: its state, its curves and its scores.")
    parser.add_argument("run", help="its folder, the beginning of its identity, or a part of its name")
    add_runs_option(parser)
    arguments = parser.parse_args()
    with one_line_errors():
        folder = find_run(arguments.run, arguments.runs)
        Console(highlight=False, markup=False).print(run_summary(folder, records.read(folder.metrics)))
