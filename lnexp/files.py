"""Read files that others may have written, write files atomically, and lock files against other processes."""

import errno
import fcntl
import json
import os
import re
import stat
import sys
import uuid
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, BinaryIO, Literal

from lnexp.errors import UserError

#: The names of temporary files of :func:`write_whole`.
TEMPORARY = re.compile(r"\.(?P<name>.+)\.[0-9a-f]{32}")


#: No file of ours has more bytes than this.
MOST_BYTES = 2**28


def read_regular(path: Path, *, errors: str = "strict") -> str:
    """Return the text of a regular file, in UTF-8; a pipe is not waited for, and a device not read.

    Args:
        path: of the file; a link to one will do.
        errors: what becomes of bytes that are no UTF-8, as in ``bytes.decode``.

    Raises:
        UserError: where it is no regular file, or has more than :data:`MOST_BYTES`.
        OSError: where it cannot be opened.
        UnicodeDecodeError: where it is no text, unless ``errors`` says otherwise.
    """
    with opened_regular(path) as file:
        _check_regular(path, os.fstat(file.fileno()))
        content = file.read(MOST_BYTES + 1)  # it may grow while it is read
    if len(content) > MOST_BYTES:
        raise UserError(f"{path}: has more than {MOST_BYTES:,} bytes")
    return content.decode("utf-8", errors=errors)


@contextmanager
def opened_regular(path: Path) -> Iterator[BinaryIO]:
    """Open a regular file of any size, for reading bytes.

    Raises:
        UserError: where it is no regular file.
        OSError: where it cannot be opened.
    """
    _refuse_irregular(path, path.stat())
    with open(path, "rb", opener=_at_once) as file:
        _refuse_irregular(path, os.fstat(file.fileno()))  # another file may have taken its place
        yield file


def _at_once(path: str, flags: int) -> int:
    """Open a file without waiting for who writes into a pipe."""
    return os.open(path, flags | os.O_NONBLOCK)


def _refuse_irregular(path: Path, found: os.stat_result) -> None:
    if not stat.S_ISREG(found.st_mode):
        raise UserError(f"{path}: not a regular file")


def _check_regular(path: Path, found: os.stat_result) -> None:
    _refuse_irregular(path, found)
    if found.st_size > MOST_BYTES:
        raise UserError(f"{path}: has more than {MOST_BYTES:,} bytes")


def write_whole(path: Path, content: str | bytes) -> None:
    """Write text or bytes to a temporary file and rename it, so that ``path`` never has part of it."""
    aside = path.with_name(
        f".{path.name}.{uuid.uuid4().hex}"
    )  # not the process' number, which another machine may use, too
    try:
        with naming(path), aside.open("wb") as file:
            file.write(content.encode() if isinstance(content, str) else content)
            file.flush()
            os.fsync(file.fileno())
        aside.replace(path)
    finally:
        aside.unlink(missing_ok=True)


@contextmanager
def naming(path: Path) -> Iterator[None]:
    """Name the file in errors of a block that writes it: that of a full disk has no name."""
    try:
        yield
    except OSError as error:
        error.filename = error.filename or str(path)
        raise


def append_synced(path: Path, text: str) -> None:
    """Append ``text`` in one write; it is on the disk on return, and so is the name of a file that is new."""
    is_new = not path.exists()
    with naming(path), path.open("a", encoding="utf-8") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    if is_new:
        folder = os.open(path.parent, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)


def write_json(path: Path, content: Any, *, indent: int, ensure_ascii: bool = True, allow_nan: bool = True) -> None:
    """Write content as JSON and a newline, see :func:`write_whole`; the options are those of ``json.dumps``.

    Raises:
        ValueError: for a number that is not finite, without ``allow_nan``.
    """
    text = json.dumps(content, indent=indent, ensure_ascii=ensure_ascii, allow_nan=allow_nan)
    write_whole(path, text + "\n")


@contextmanager
def locked(path: Path, *, wait: bool = True) -> Iterator[None]:
    """Hold an exclusive lock on the file ``path``, which exists while the lock is held.

    The lock ends with the process that holds it, also where that is killed. A process that is forked meanwhile has it
    too, so it must end with its parent.

    Args:
        path: of the lock file; its folder is created where it is missing.
        wait: whether to wait for another process that holds the lock.

    Raises:
        BlockingIOError: where another process holds the lock and ``wait`` is false.
        UserError: where something else than a regular file has its name: a pipe, or a link to a file of others.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    while True:
        with _opened_lock(path) as file:
            _lock(file, wait)
            if not _is_same_file(path, file):
                continue  # the last holder removed the file after it was opened here
            try:
                yield
            finally:
                path.unlink(missing_ok=True)
            return


def is_locked(path: Path) -> bool:
    """Return whether a process holds the lock on the file ``path``; it may be a file that cannot be written here.

    Raises:
        UserError: where something else than a regular file has its name.
    """
    try:
        file = _opened_lock(path, "r")
    except (FileNotFoundError, NotADirectoryError):
        return False
    with file:
        try:
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
    return False


def _opened_lock(path: Path, mode: Literal["r", "w"] = "w") -> IO[str]:
    """Open the file of a lock, and change nothing of it: it may lie in a folder that came from others."""
    try:
        file = open(path, mode, opener=_as_it_is)  # noqa: SIM115  (the caller closes it)
    except OSError as error:
        if error.errno not in (errno.ELOOP, errno.EISDIR, errno.ENXIO):  # of a link, a folder, a pipe
            raise
        raise UserError(f"{path}: not a regular file") from error
    if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
        file.close()
        raise UserError(f"{path}: not a regular file")
    return file


def _as_it_is(path: str, flags: int) -> int:
    """Open a file without emptying it; a link is not followed, and nobody is waited for."""
    return os.open(path, flags & ~os.O_TRUNC | os.O_NOFOLLOW | os.O_NONBLOCK, 0o666)


def _lock(file: IO[str], wait: bool) -> None:
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        if not wait:
            raise
        print(f"{file.name}: held by another process, waiting for it", file=sys.stderr, flush=True)
        fcntl.flock(file, fcntl.LOCK_EX)


def _is_same_file(path: Path, file: IO[str]) -> bool:
    try:
        return os.path.samestat(path.stat(), os.fstat(file.fileno()))
    except FileNotFoundError:
        return False


def matching(root: str | Path, patterns: Iterable[str]) -> list[str]:
    """Return the paths below ``root`` of the files that patterns as ``**/*.txt`` match, sorted.

    Raises:
        UserError: where a pattern matches no file.
    """
    found: set[str] = set()
    for pattern in patterns:
        files = [path for path in Path(root).glob(pattern) if path.is_file()]
        if not files:
            raise UserError(f"{root}: no file {pattern}")
        found.update(path.relative_to(root).as_posix() for path in files)
    return sorted(found)
