"""Lock a run, by its identity, so that only one process trains it."""

import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from lnexp.errors import UserError
from lnexp.files import is_locked, locked

TRIES = 5  # is_held holds the lock for a moment, without training the run


class RunBusyError(UserError):
    """Another process is training the run."""


@contextmanager
def held(runs_dir: str | Path, run_identity: str) -> Iterator[None]:
    """Lock a run for the block. The lock is released when its holder ends, in whatever way.

    Raises:
        RunBusyError: where another process holds it.
    """
    with ExitStack() as stack:
        for attempt in range(1, TRIES + 1):
            try:
                stack.enter_context(locked(_path(runs_dir, run_identity), wait=False))
                break
            except BlockingIOError:
                if attempt == TRIES:
                    raise RunBusyError(f"{run_identity}: another process is training this run") from None
                time.sleep(0.05)
        yield


def is_held(runs_dir: str | Path, run_identity: str) -> bool:
    """Return whether a process is training the run now."""
    return is_locked(_path(runs_dir, run_identity))


def _path(runs_dir: str | Path, run_identity: str) -> Path:
    return Path(runs_dir) / ".locks" / run_identity
