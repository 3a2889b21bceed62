"""fairseq's binarised data: all sentences' numbers in ``.bin``, where each begins in ``.idx``.

Byte for byte what ``fairseq-preprocess`` writes (fairseq's ``MMapIndexedDataset``, version 1), but as a stream, and
without importing fairseq, which takes longer than binarising a small corpus.
"""

import struct
from array import array
from pathlib import Path
from typing import Any

import numpy as np

MAGIC = b"MMIDIDX\x00\x00"
VERSION = 1
#: fairseq's codes for the types of number in use.
CODES: dict[Any, int] = {np.uint16: 8, np.uint32: 9}
#: What an index begins with: version, type of number, how many sentences.
HEADER = "<QBQ"
#: From so many symbols on, fairseq takes the wider type.
WIDE = 65_500


def number_type(n_symbols: int) -> type:
    """The numpy type that fairseq stores the numbers of so many symbols in."""
    return np.uint16 if n_symbols < WIDE else np.uint32


class IndexedDatasetWriter:
    """Appends sentences; use it as a context manager, or the index is never written."""

    def __init__(self, prefix: Path, kind: type):
        self._prefix, self._kind = prefix, kind
        self._data = prefix.with_name(f"{prefix.name}.bin").open("wb")
        self._sizes = array("i")

    def __enter__(self) -> "IndexedDatasetWriter":
        return self

    def add(self, numbers: bytes, sizes: bytes) -> None:
        """Append the numbers of some sentences, and (as 32-bit integers) how many each has."""
        self._data.write(numbers)
        self._sizes.frombytes(sizes)

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        self._data.close()
        if kind is None:
            self._write_index()

    def _write_index(self) -> None:
        sizes = np.asarray(self._sizes, dtype=np.int32)
        width = np.dtype(self._kind).itemsize
        starts = np.concatenate([[0], np.cumsum(sizes, dtype=np.int64)[:-1]]) * width if len(sizes) else sizes
        with self._prefix.with_name(f"{self._prefix.name}.idx").open("wb") as file:
            file.write(MAGIC + struct.pack(HEADER, VERSION, CODES[self._kind], len(sizes)))
            file.write(sizes.tobytes())
            file.write(starts.astype(np.int64).tobytes())


def check_index(prefix: Path) -> None:
    """Compare an index with itself and its data: fairseq would read on where a damaged one points.

    Raises:
        ValueError: what is wrong with it.
    """
    content = prefix.with_name(f"{prefix.name}.idx").read_bytes()
    start = len(MAGIC) + struct.calcsize(HEADER)
    if not content.startswith(MAGIC) or len(content) < start:
        raise ValueError("no index of fairseq's")
    version, code, count = struct.unpack(HEADER, content[len(MAGIC) : start])
    widths = {known: np.dtype(kind).itemsize for kind, known in CODES.items()}
    if version != VERSION or code not in widths:
        raise ValueError(f"version {version} with numbers of type {code}, which is not known")
    if len(content) != start + 12 * count:
        raise ValueError(f"{len(content):,} bytes for {count:,} sentences")
    sizes = np.frombuffer(content, np.int32, count, start)
    starts = np.frombuffer(content, np.int64, count, start + 4 * count)
    ends = np.cumsum(sizes, dtype=np.int64) * widths[code]
    if (sizes < 1).any() or (starts[1:] != ends[:-1]).any() or (starts[:1] != 0).any():
        raise ValueError("sentences that do not follow each other")
    if (ends[-1] if count else 0) != prefix.with_name(f"{prefix.name}.bin").stat().st_size:
        raise ValueError("not that of its data")
