"""Follow a sweep that another process trains: its lines, a live line on all runs, and recipes that are whole."""

import subprocess
import sys
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path

from rich.console import Console
from rich.status import Status

from lnexp.errors import UserError
from lnexp.runs.status_table import SweepStatus
from lnexp.runs.sweep import Sweep, newest_sweep

#: Seconds between two looks at the runs.
SECONDS = 2.0


class Follower:
    """Shows what a sweep does until it has ended, and hands over each recipe as soon as its runs are over.

    Args:
        recipes: the names of the sweep's recipes, in the order in which they are handed over.
        runs_dir: where run folders lie.
        when_whole: called with the name of a recipe whose runs are all over.
        early: whether recipes are handed over while others are trained. Not where finished runs are trained again,
            for they seem to be over before they have begun.
    """

    def __init__(
        self, recipes: Sequence[str], runs_dir: str | Path, when_whole: Callable[[str], object], early: bool = True
    ):
        self._left, self._runs_dir, self._when_whole = list(recipes), Path(runs_dir), when_whole
        self._console = Console(highlight=False, soft_wrap=True)
        self._started, self._early = time.time(), early
        self._printing = threading.Lock()  # of a line of the sweep, or of all that is shown of a recipe

    def follow(self, command: Sequence[str], environment: dict[str, str]) -> int:
        """Run the command that trains the sweep, and return its exit code."""
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment) as process:
            printer = threading.Thread(target=self._print_lines_of, args=(process,), daemon=True)
            printer.start()
            with self._live_line() as live:
                while process.poll() is None:
                    self._look(live)
                    self._wait_for(process)
            printer.join()
        for recipe in self._left:
            self._when_whole(recipe)
        return process.returncode

    def _print_lines_of(self, process: subprocess.Popen) -> None:
        for line in process.stdout or ():
            with self._printing:
                self._console.out(line.rstrip("\n"), highlight=False)

    def _live_line(self) -> AbstractContextManager[Status | None]:
        return self._console.status("preparing") if sys.stdout.isatty() else nullcontext()

    def _wait_for(self, process: subprocess.Popen) -> None:
        try:
            process.wait(SECONDS)
        except subprocess.TimeoutExpired:
            return

    def _look(self, live: Status | None) -> None:
        """Update the live line, and hand over the recipes that are whole, in their order."""
        sweep = self._sweep()
        if sweep is None:
            return
        status = SweepStatus(sweep, self._runs_dir)
        if live:
            live.update(status.summary())
        while self._early and self._left and status.has_all_of(self._left[0]):
            self._hand_over(self._left.pop(0), live)

    def _hand_over(self, recipe: str, live: Status | None) -> None:
        """Call for a recipe that is whole, while nothing else is printed."""
        with self._printing:
            if live:
                live.stop()
            self._when_whole(recipe)
            if live:
                live.start()

    def _sweep(self) -> Sweep | None:
        """Return the sweep once the command has begun it."""
        try:
            return newest_sweep(self._runs_dir, since=self._started)
        except UserError:
            return None
