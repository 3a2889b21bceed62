"""Reading the lines of a file: plain, compressed, or within an archive. Nothing is ever unpacked to disk."""

import bz2
import gzip
import io
import lzma
import tarfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any, BinaryIO, cast

from lnexp.errors import UserError

#: By the first bytes of a file, not by its name.
OPENERS: dict[bytes, Callable[..., Any]] = {b"\x1f\x8b": gzip.open, b"\xfd7zXZ": lzma.open, b"BZh": bz2.open}
BUFFER = 1 << 20
#: Where a tar archive says what it is.
TAR_MAGIC = slice(257, 262)

DAMAGED = (tarfile.TarError, EOFError, zlib.error, lzma.LZMAError, gzip.BadGzipFile)


@dataclass(frozen=True)
class Place:
    """A file of lines: ``path`` itself (plain or compressed), or the ``member`` of that name in the archive there."""

    path: Path
    member: str | None = None

    def __str__(self) -> str:
        return f"{self.path}!{self.member}" if self.member else str(self.path)

    def lines(self) -> Iterator[bytes]:
        """Its lines without their line feeds, read as a stream.

        Raises:
            UserError: where the file is missing, damaged or cut short, or an archive is none, has no such member, or
                has members that point outside (absolute, with ``..``, or links).
        """
        if not self.path.is_file():
            raise UserError(f"{self.path}: no such {'archive' if self.member else 'file'}")
        try:
            with _decompressed(self.path) as stream:
                if self.member:
                    yield from self._member_lines(stream)
                else:
                    yield from (line.removesuffix(b"\n") for line in self._text(stream))
        except DAMAGED as error:
            raise UserError(f"{self.path}: damaged or cut short ({error})") from None
        except OSError as error:
            if error.errno is None:  # bz2 says it so
                raise UserError(f"{self.path}: damaged or cut short ({error})") from None
            raise

    def _text(self, stream: BinaryIO) -> Iterator[bytes]:
        head = stream.read(TAR_MAGIC.stop)
        if head[TAR_MAGIC] == b"ustar":
            raise UserError(f"{self.path}: an archive of files, not a text")
        first = head + (b"" if head.endswith(b"\n") else stream.readline())
        yield from io.BytesIO(first)
        yield from stream

    def _member_lines(self, stream: BinaryIO) -> Iterator[bytes]:
        found: list[str] = []
        with _tar(stream, self.path) as archive:
            for info in archive:
                _refuse_unsafe(info, self.path)
                if info.isfile() and _is_named(info.name, cast(str, self.member)):
                    found.append(info.name)
                    yield from (line.removesuffix(b"\n") for line in cast(BinaryIO, archive.extractfile(info)))
        if not found:
            raise UserError(f"{self.path}: no {self.member} in it")
        if len(found) > 1:
            raise UserError(f"{self.path}: more than one {self.member} in it: {', '.join(found)}")


@contextmanager
def _decompressed(path: Path) -> Iterator[BinaryIO]:
    with path.open("rb") as file:
        head = file.read(8)
    opener = next((opener for magic, opener in OPENERS.items() if head.startswith(magic)), None)
    with cast(BinaryIO, opener(path, "rb")) if opener else path.open("rb", buffering=BUFFER) as stream:
        yield stream


def _tar(stream: BinaryIO, path: Path) -> tarfile.TarFile:
    try:
        return tarfile.open(fileobj=stream, mode="r|", bufsize=BUFFER)
    except tarfile.ReadError:
        raise UserError(f"{path}: damaged, or no tar archive at all") from None


def _refuse_unsafe(info: tarfile.TarInfo, path: Path) -> None:
    """Such an archive was made to do harm, or by mistake; no corpus needs one."""
    name = PurePosixPath(info.name)
    if name.is_absolute() or ".." in name.parts:
        raise UserError(f"{path}: refused, for it has a member that points outside: {info.name!r}")
    if not (info.isfile() or info.isdir()):
        raise UserError(f"{path}: refused, for it has a member that is a link or a device: {info.name!r}")


def _is_named(name: str, wanted: str) -> bool:
    """Archives differ in the folders around their files."""
    name = name.removeprefix("./")
    return name == wanted or name.endswith(f"/{wanted}")
