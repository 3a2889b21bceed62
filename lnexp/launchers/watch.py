"""Watch the runs of a sweep: print a line for each that ends, and show on a terminal what is left to do."""

import sys
import threading
import time
from collections.abc import Iterable
from pathlib import Path

from rich.console import Console

from lnexp.errors import UserError
from lnexp.runs.ended_run import ended_line
from lnexp.runs.folder import RunFolder, find_folders, status_of
from lnexp.runs.progress import Progress
from lnexp.runs.status import DONE
from lnexp.runs.status_table import SweepStatus
from lnexp.runs.sweep import Sweep
from lnexp.terminal import Footer

#: Seconds between two looks at the runs.
SECONDS = 1.0
#: Seconds after which a log gets a line on what is left, if no other line was printed.
SILENCE = 1800.0


class Watch:
    """Watches from a thread, so that every launcher's runs are seen; a context manager around the launch.

    Args:
        sweep: all its runs.
        runs_dir: where run folders lie.
        missing: the identities of those that are to be trained; the others are done.
        quiet: whether the runs print nothing themselves. Only then are their warnings printed, and does a terminal
            show a line on what is left, into which lines from other processes would run.
    """

    def __init__(self, sweep: Sweep, runs_dir: str | Path, missing: Iterable[str], quiet: bool):
        self._sweep, self._runs_dir = sweep, Path(runs_dir)
        self._footer = Footer(Console(highlight=False, markup=False), quiet and sys.stdout.isatty())
        folders = find_folders(runs_dir)
        self._before = {identity: status_of(folders.get(identity)) for identity in missing}
        self._members = {member.identity: member for member in sweep.members}
        self._without_epoch = set(self._before) if quiet else set()
        self._warned: set[str] = set()
        self._done: dict[str, Progress] = {}
        self._over = len(sweep.members) - len(self._before)
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)
        self._last_line = time.monotonic()

    def __enter__(self) -> "Watch":
        self._footer.__enter__()
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        self._thread.join()
        self.look()
        self._footer.__exit__()

    def _watch(self) -> None:
        while not self._ended.wait(SECONDS):
            self.look()
            is_silent = time.monotonic() - self._last_line > SILENCE
            if self._footer.is_shown or is_silent:
                footer = self._what_is_left()
                self._footer.update(footer)
                if is_silent:
                    self._print(footer)

    def _what_is_left(self) -> str:
        """Return the line on it; of runs that are done, and are not trained again, the files are read once."""
        status = SweepStatus(self._sweep, self._runs_dir, self._done)
        self._done = {identity: run for identity, run in status.done.items() if identity not in self._before}
        return status.footer()

    def look(self) -> None:
        """Print a line for each run that has ended since the last look, or failed, and their warnings, each once."""
        folders = find_folders(self._runs_dir)
        for identity in list(self._without_epoch):
            self._warn(identity, folders.get(identity))
        for identity, before in list(self._before.items()):
            status = status_of(folders.get(identity))
            if status != before and status.get("state") in (*DONE, "failed"):
                del self._before[identity]
                self._over += 1
                folder = RunFolder(folders[identity])
                self._print(ended_line(self._over, self._sweep, self._members[identity], folder))

    def _warn(self, identity: str, path: Path | None) -> None:
        """Print that the warm-up of a run never ends, once for all runs of which the same is true."""
        try:
            first = next(iter(RunFolder(path).epochs()), None) if path else None
            if path is None or first is None:
                return
            warmup = int(RunFolder(path).config["warmup_updates"])
        except (UserError, OSError, KeyError, TypeError, ValueError):  # half written or gone: left to who trains it
            return
        self._without_epoch.discard(identity)
        warning = self._members[identity].length.endless_warmup(warmup, first["epoch"], first["update"])
        if warning and warning not in self._warned:
            self._warned.add(warning)
            self._print(f"warning: {warning}")

    def _print(self, line: str) -> None:
        self._last_line = time.monotonic()
        print(line, flush=True)
