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
            file.write(MAGIC + struct.pack("<QBQ", VERSION, CODES[self._kind], len(sizes)))
            file.write(sizes.tobytes())
            file.write(starts.astype(np.int64).tobytes())
