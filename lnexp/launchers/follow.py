"""Follow a sweep that another process trains: its lines, a live line on all runs, and recipes that are whole."""

import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import NoReturn

from rich.console import Console

from lnexp.cli import EXIT_INTERRUPTED
from lnexp.errors import UserError
from lnexp.runs.progress import Progress
from lnexp.runs.status_table import SweepStatus
from lnexp.runs.sweep import Sweep, newest_sweep
from lnexp.terminal import Footer

#: Seconds between two looks at the runs.
SECONDS = 2.0
#: Seconds that the command has to end by itself after an interrupt, which a terminal sends to it, too.
GRACE = 10.0


class Follower:
    """Shows what a sweep does until it has ended, and hands over each recipe as soon as its runs are done.

    Args:
        recipes: the names of the sweep's recipes; those that are left at the end are handed over in this order.
        runs_dir: where run folders lie.
        when_whole: called with the name of a recipe whose runs are all done, or at the end.
        early: whether recipes are handed over while others are trained. Not where finished runs are trained again,
            for they seem to be over before they have begun.
    """

    def __init__(
        self, recipes: Sequence[str], runs_dir: str | Path, when_whole: Callable[[str], object], early: bool = True
    ):
        self._recipes, self._left = tuple(recipes), list(recipes)
        self._runs_dir, self._when_whole = Path(runs_dir), when_whole
        self._console = Console(highlight=False, soft_wrap=True)
        self._footer = Footer(self._console, sys.stdout.isatty())
        self._started, self._early = time.time(), early
        self._done: dict[str, Progress] = {}
        self._found: Sweep | None = None
        self._terminated = False
        self._printing = threading.Lock()  # of a line of the sweep, or of all that is shown of a recipe

    def follow(self, command: Sequence[str], environment: dict[str, str]) -> int:
        """Run the command that trains the sweep, and return its exit code.

        Recipes that are left when it has ended are handed over, unless it has not begun.
        """
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment) as process:
            printer = threading.Thread(target=self._print_lines_of, args=(process,), daemon=True)
            printer.start()
            try:
                with self._passing_on(signal.SIGTERM, process), self._footer:
                    while process.poll() is None:
                        self._look()
                        self._wait_for(process)
            except KeyboardInterrupt:
                self._interrupted(process)
            printer.join()
            if self._terminated:
                sys.exit(128 + signal.SIGTERM)
        if process.returncode == 0 or self.began:
            for recipe in self._left:
                self._when_whole(recipe)
        return process.returncode

    @property
    def began(self) -> bool:
        """Whether the command has begun its sweep; else it has refused what it was asked for."""
        return self._sweep() is not None

    def _print_lines_of(self, process: subprocess.Popen) -> None:
        for line in process.stdout or ():
            with self._printing:
                self._console.out(line.rstrip("\n"), highlight=False)

    @contextmanager
    def _passing_on(self, number: signal.Signals, process: subprocess.Popen) -> Iterator[None]:
        """Pass a signal on to the command, which then saves its state and ends: make sends it to this process alone."""

        def pass_on(*_: object) -> None:
            self._terminated = True
            process.send_signal(number)

        before = signal.signal(number, pass_on)
        try:
            yield
        finally:
            signal.signal(number, before)

    def _interrupted(self, process: subprocess.Popen) -> NoReturn:
        """Wait until an interrupted command has ended, which says so itself, and end this process, too."""
        try:
            process.wait(GRACE)
        except subprocess.TimeoutExpired:  # the interrupt was sent to this process alone
            process.send_signal(signal.SIGINT)
            process.wait()
        sys.exit(EXIT_INTERRUPTED)

    def _wait_for(self, process: subprocess.Popen) -> None:
        try:
            process.wait(SECONDS)
        except subprocess.TimeoutExpired:
            return

    def _look(self) -> None:
        """Update the live line, and hand over the recipes that are whole."""
        sweep = self._sweep()
        if sweep is None:
            return
        status = SweepStatus(sweep, self._runs_dir, self._done)
        if self._early:
            self._done = status.done  # their files need not be read again
        self._footer.update(status.footer())
        for recipe in filter(status.has_all_of, self._left.copy() if self._early else ()):
            self._hand_over(recipe)

    def _hand_over(self, recipe: str) -> None:
        """Call for a recipe that is whole, while nothing else is printed."""
        self._left.remove(recipe)
        with self._printing, self._footer.hidden():
            self._when_whole(recipe)

    def _sweep(self) -> Sweep | None:
        """Return the sweep once the command has begun it; another command may begin one of the same recipes later."""
        if self._found is None:
            with suppress(UserError):
                self._found = newest_sweep(self._runs_dir, self._started, self._recipes)
        return self._found
