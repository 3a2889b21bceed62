"""The splits of a corpus as files of lines, one sentence a line."""

from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path

SPLITS = ("train", "valid", "test")


def read_lines(path: Path) -> list[str]:
    """The lines of a UTF-8 file, without line feeds; only a line feed ends a line."""
    return list(stream_lines(path))


def stream_lines(path: Path) -> Iterator[str]:
    """As ``read_lines``, one at a time."""
    with path.open(encoding="utf-8", newline="\n") as file:
        for line in file:
            yield line.removesuffix("\n")


def count_lines(path: Path) -> int:
    """How many lines a file has."""
    with path.open("rb") as file:
        return sum(1 for _ in file)


def chunks(lines: Iterable[str], size: int) -> Iterator[list[str]]:
    """Lists of at most ``size`` lines."""
    iterator = iter(lines)
    while chunk := list(islice(iterator, size)):
        yield chunk
