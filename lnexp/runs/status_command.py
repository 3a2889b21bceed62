"""Run ``scripts/status.py``: show the state of the runs of the newest sweep."""

import sys
import time

from rich.console import Console
from rich.live import Live

from lnexp.cli import Parser, add_runs_option, one_line_errors
from lnexp.runs.status_table import SweepStatus
from lnexp.runs.sweep import newest_sweep

SECONDS = 2.0


def main() -> None:
    """Show the newest sweep: on a terminal until it is over, and then what became of it."""
    parser = Parser(description=main.__doc__)
    add_runs_option(parser)
    parser.add_argument("--once", action="store_true", help="print it once, also on a terminal")
    parser.add_argument("--all", action="store_true", help="every run, also of a sweep that is over")
    arguments = parser.parse_args()
    with one_line_errors():
        status = SweepStatus(newest_sweep(arguments.runs), arguments.runs)
        console = Console(markup=False)
        if status.is_over and not arguments.all:
            print(status.ended())
            return
        if arguments.once or not sys.stdout.isatty() or status.is_over:
            console.print(status.table())
            return
        with Live(status.table(console.height), console=console, transient=not arguments.all) as live:
            while not status.is_over:
                time.sleep(SECONDS)
                status = SweepStatus(newest_sweep(arguments.runs), arguments.runs)
                live.update(status.table(console.height))
        if not arguments.all:
            print(status.ended())
