"""Read lines of text from plain files, compressed files and archive members, without unpacking to disk."""

import bz2
import gzip
import io
import lzma
import tarfile
import zlib
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path, PurePosixPath
from typing import Any, BinaryIO, cast

from lnexp.corpora.bounded_tar import BoundedTarInfo
from lnexp.errors import UserError

#: Decompressors by the first bytes of a file; its name does not matter.
OPENERS: dict[bytes, Callable[..., Any]] = {b"\x1f\x8b": gzip.open, b"\xfd7zXZ": lzma.open, b"BZh": bz2.open}
BUFFER = 1 << 20
#: No line of a text has more bytes.
LONGEST_LINE = 2**24
#: The position of a tar archive's magic bytes.
TAR_MAGIC = slice(257, 262)

DAMAGED = (tarfile.TarError, EOFError, zlib.error, lzma.LZMAError, gzip.BadGzipFile)
#: What Python's reader raises for headers that make no sense, beside its own errors.
SENSELESS = (ValueError, LookupError, OverflowError, RecursionError)


@dataclass(frozen=True)
class TextLocation:
    """Where a text is: a file, plain or compressed, or a member of a tar archive.

    Attributes:
        path: of the file or the archive.
        member: the member's name; None for a file.
    """

    path: Path
    member: str | None = None

    def __str__(self) -> str:
        return f"{self.path}!{self.member}" if self.member else str(self.path)

    def lines(self) -> Iterator[bytes]:
        """Yield the lines of the text without their line feeds.

        Raises:
            UserError: where the file is missing, damaged or truncated, or has an endless line; where it should be an
                archive and is none, has not exactly one such member, or has unsafe members (absolute paths, ``..``,
                links, holes, absurd sizes).
        """
        if not self.path.is_file():
            raise UserError(f"{self.path}: no such {'archive' if self.member else 'file'}")
        try:
            with _decompressed(self.path) as stream:
                if self.member:
                    yield from self._member_lines(stream)
                else:
                    yield from self._bounded(self._text(stream))
        except DAMAGED as error:
            raise UserError(f"{self.path}: damaged or truncated ({error})") from None
        except OSError as error:
            if error.errno is None:  # raised so by bz2
                raise UserError(f"{self.path}: damaged or truncated ({error})") from None
            raise

    def _text(self, stream: BinaryIO) -> Iterator[bytes]:
        head = stream.read(TAR_MAGIC.stop)
        if head[TAR_MAGIC] == b"ustar":
            raise UserError(f"{self.path}: an archive of files, not a text")
        first = head + (b"" if head.endswith(b"\n") else stream.readline(LONGEST_LINE))
        yield from io.BytesIO(first)
        yield from _lines(stream)

    def _bounded(self, lines: Iterable[bytes]) -> Iterator[bytes]:
        """Yield lines without their line feeds. Raises UserError for one that is too long."""
        for line in lines:
            if len(line) >= LONGEST_LINE:
                raise UserError(f"{self}: has a line of more than {LONGEST_LINE:,} bytes")
            yield line.removesuffix(b"\n")

    def _member_lines(self, stream: BinaryIO) -> Iterator[bytes]:
        found: list[str] = []
        with _tar(stream, self.path) as archive:
            for info in self._members(archive):
                _refuse_unsafe(info, self.path)
                if info.isfile() and _is_named(info.name, cast(str, self.member)):
                    found.append(info.name)
                    yield from self._bounded(_lines(cast(BinaryIO, archive.extractfile(info))))
        if not found:
            raise UserError(f"{self.path}: has no member {self.member}")
        if len(found) > 1:
            raise UserError(f"{self.path}: has more than one {self.member}: {', '.join(found)}")

    def _members(self, archive: tarfile.TarFile) -> Iterator[tarfile.TarInfo]:
        while True:
            try:
                info = archive.next()
            except SENSELESS as error:
                raise UserError(f"{self.path}: damaged ({type(error).__name__} in a header)") from None
            if info is None:
                return
            yield info


def _lines(stream: BinaryIO) -> Iterator[bytes]:
    """Yield lines, a line that is too long in pieces."""
    return iter(partial(stream.readline, LONGEST_LINE), b"")


@contextmanager
def _decompressed(path: Path) -> Iterator[BinaryIO]:
    with path.open("rb") as file:
        head = file.read(8)
    opener = next((opener for magic, opener in OPENERS.items() if head.startswith(magic)), None)
    with cast(BinaryIO, opener(path, "rb")) if opener else path.open("rb", buffering=BUFFER) as stream:
        yield stream


def _tar(stream: BinaryIO, path: Path) -> tarfile.TarFile:
    try:
        return tarfile.open(fileobj=stream, mode="r|", bufsize=BUFFER, tarinfo=BoundedTarInfo)
    except (tarfile.ReadError, *SENSELESS):
        raise UserError(f"{path}: damaged, or not a tar archive") from None


def _refuse_unsafe(info: tarfile.TarInfo, path: Path) -> None:
    """Raise UserError for a member that could write outside a folder: it is an attack or a mistake."""
    name = PurePosixPath(info.name)
    if name.is_absolute() or ".." in name.parts:
        raise UserError(f"{path}: refused: it has a member that points outside: {info.name!r}")
    if not (info.isfile() or info.isdir()):
        raise UserError(f"{path}: refused: it has a member that is a link or a device: {info.name!r}")


def _is_named(name: str, wanted: str) -> bool:
    """Return whether a member has the wanted name, in whatever folder of the archive."""
    name = name.removeprefix("./")
    return name == wanted or name.endswith(f"/{wanted}")
