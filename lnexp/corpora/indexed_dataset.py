"""Write and check fairseq's binarised datasets: symbol numbers in ``.bin``, sentence offsets in ``.idx``.

The files equal those of ``fairseq-preprocess`` byte for byte (fairseq's ``MMapIndexedDataset``, version 1). They are
written as a stream and without importing fairseq, which takes longer than binarising a small corpus.
"""

import struct
from array import array
from pathlib import Path
from typing import Any

import numpy as np

MAGIC = b"MMIDIDX\x00\x00"
VERSION = 1
#: fairseq's codes of the number types.
CODES: dict[Any, int] = {np.uint16: 8, np.uint32: 9}
#: The fields of an index behind ``MAGIC``: version, number type, number of sentences.
HEADER = "<QBQ"
#: Vocabularies of at least this size have the wider number type.
WIDE = 65_500


def number_type(n_symbols: int) -> type:
    """Return the numpy type in which fairseq stores the numbers of ``n_symbols`` symbols."""
    return np.uint16 if n_symbols < WIDE else np.uint32


class IndexedDatasetWriter:
    """Appends sentences to a dataset; as a context manager, it writes the index at the end of its block."""

    def __init__(self, prefix: Path, kind: type):
        self._prefix, self._kind = prefix, kind
        self._data = prefix.with_name(f"{prefix.name}.bin").open("wb")
        self._sizes = array("i")

    def __enter__(self) -> "IndexedDatasetWriter":
        return self

    def add(self, numbers: bytes, sizes: bytes) -> None:
        """Append sentences: their numbers, and their lengths as 32-bit integers."""
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
    """Check that an index is consistent in itself and with its data; fairseq would follow wrong offsets.

    Raises:
        ValueError: that says what is wrong.
    """
    content = prefix.with_name(f"{prefix.name}.idx").read_bytes()
    start = len(MAGIC) + struct.calcsize(HEADER)
    if not content.startswith(MAGIC) or len(content) < start:
        raise ValueError("not an index of fairseq")
    version, code, count = struct.unpack(HEADER, content[len(MAGIC) : start])
    widths = {known: np.dtype(kind).itemsize for kind, known in CODES.items()}
    if version != VERSION or code not in widths:
        raise ValueError(f"version {version} with numbers of type {code}: unknown")
    if len(content) != start + 12 * count:
        raise ValueError(f"{len(content):,} bytes for {count:,} sentences")
    sizes = np.frombuffer(content, np.int32, count, start)
    starts = np.frombuffer(content, np.int64, count, start + 4 * count)
    ends = np.cumsum(sizes, dtype=np.int64) * widths[code]
    if (sizes < 1).any() or (starts[1:] != ends[:-1]).any() or (starts[:1] != 0).any():
        raise ValueError("sentences are not contiguous")
    if (ends[-1] if count else 0) != prefix.with_name(f"{prefix.name}.bin").stat().st_size:
        raise ValueError("does not match its data")
