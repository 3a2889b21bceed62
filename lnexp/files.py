"""Writing so that a kill at any moment leaves every file whole, and taking turns."""

import fcntl
import os
import sys
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO


def write_whole(path: Path, text: str) -> None:
    """Write ``text`` aside and rename it into place: a reader sees the old file or the new one, never half of one."""
    aside = path.with_name(f".{path.name}.{uuid.uuid4().hex}")  # a process of another machine may have our number
    try:
        with aside.open("w", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        aside.replace(path)
    finally:
        aside.unlink(missing_ok=True)


@contextmanager
def locked(path: Path, *, wait: bool = True) -> Iterator[None]:
    """Hold the lock file ``path``, which is there only as long; the lock falls with its holder, however that ends.

    A process that was forked while it was held holds it, too: it must end with its parent.

    Raises:
        BlockingIOError: where another process holds it and this one does not ``wait``.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    while True:
        with path.open("w") as file:
            _lock(file, wait)
            if not _is_still(path, file):
                continue  # its last holder has taken the file away since it was opened
            try:
                yield
            finally:
                path.unlink(missing_ok=True)
            return


def _lock(file: IO[str], wait: bool) -> None:
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        if not wait:
            raise
        print(f"{file.name}: held by another process, waiting for it", file=sys.stderr, flush=True)
        fcntl.flock(file, fcntl.LOCK_EX)


def _is_still(path: Path, file: IO[str]) -> bool:
    try:
        return os.path.samestat(path.stat(), os.fstat(file.fileno()))
    except FileNotFoundError:
        return False
