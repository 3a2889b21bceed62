"""Read text files: lines, line counts, chunks of lines; the names of the splits."""

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import TypeVar

Item = TypeVar("Item")

SPLITS = ("train", "valid", "test")


def read_lines(path: Path) -> list[str]:
    """Return the lines of a UTF-8 file without their line feeds; no other character ends a line."""
    return list(stream_lines(path))


def stream_lines(path: Path) -> Iterator[str]:
    """Yield the lines of a UTF-8 file without their line feeds; no other character ends a line."""
    with path.open(encoding="utf-8", newline="\n") as file:
        for line in file:
            yield line.removesuffix("\n")


def count_lines(path: Path) -> int:
    """Return the number of lines of a file."""
    with path.open("rb") as file:
        return sum(1 for _ in file)


def count_sentences(path: Path) -> int:
    """Return the number of lines of a UTF-8 file that are not empty."""
    return sum(1 for line in stream_lines(path) if line)


def chunks(items: Iterable[Item], size: int, size_of: Callable[[Item], int] = lambda _: 1) -> Iterator[list[Item]]:
    """Yield lists of items, such as lines, each as soon as its items have ``size`` together.

    Args:
        items: what is divided.
        size: of a list; the last one may have less, and others more, where an item is larger than 1.
        size_of: the size of an item.
    """
    chunk: list[Item] = []
    reached = 0
    for item in items:
        chunk.append(item)
        reached += size_of(item)
        if reached >= size:
            yield chunk
            chunk, reached = [], 0
    if chunk:
        yield chunk
