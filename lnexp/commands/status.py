"""Run ``scripts/status.py``: show the state of the runs of the newest sweep, or of all runs."""

import sys
import time
from pathlib import Path

from rich.console import Console
from rich.live import Live

from lnexp.cli import Parser, add_runs_option, one_line_errors
from lnexp.errors import UserError
from lnexp.runs.folder import misnamed_folders
from lnexp.runs.single_runs import runs_of_no_sweep
from lnexp.runs.status_table import SweepStatus
from lnexp.runs.sweep import all_sweeps, newest_sweep

SECONDS = 2.0


def main() -> None:
    """Show the newest sweep: on a terminal until it is over, and then what became of it."""
    parser = Parser(description=main.__doc__)
    add_runs_option(parser)
    parser.add_argument("--once", action="store_true", help="print it once, also on a terminal")
    parser.add_argument("--all", action="store_true", help="every run there is, sweep by sweep, the newest last")
    arguments = parser.parse_args()
    with one_line_errors():
        console = Console(markup=False)
        for line in misnamed_folders(arguments.runs):
            print(line, file=sys.stderr)
        if arguments.all:
            _print_all(arguments.runs, console)
            return
        status = SweepStatus(newest_sweep(arguments.runs), arguments.runs)
        if status.is_over:
            print(status.ended())
            return
        if arguments.once or not sys.stdout.isatty():
            console.print(status.table())
            return
        with Live(status.table(console.height), console=console, transient=True) as live:
            while not status.is_over:
                time.sleep(SECONDS)
                status = SweepStatus(newest_sweep(arguments.runs), arguments.runs)
                live.update(status.table(console.height))
        print(status.ended())


def _print_all(runs_dir: Path, console: Console) -> None:
    """Print a table of the runs of no sweep, then one of each sweep. Raises UserError where there is no run."""
    sweeps = all_sweeps(runs_dir)
    alone = runs_of_no_sweep(sweeps, runs_dir)
    if not (sweeps or alone):
        raise UserError(f"{runs_dir}: no run was started there")
    if alone:
        console.print(SweepStatus(alone.sweep, runs_dir, alone.malformed).table())
    for sweep in sweeps:
        console.print(SweepStatus(sweep, runs_dir).table())
