"""Write and read fairseq's data files: dictionaries (``dict.{language}.txt``) and binarised datasets.

A dataset has symbol numbers in ``.bin`` and sentence offsets in ``.idx``. All files equal those of
``fairseq-preprocess`` byte for byte (datasets are fairseq's ``MMapIndexedDataset``, version 1). Datasets are written as
a stream. fairseq is not imported, because that takes longer than binarising a small corpus.
"""

import struct
from array import array
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np

#: fairseq's own symbols, which come first and are not in the file.
SPECIAL = ("<s>", "<pad>", "</s>", "<unk>")
END, UNKNOWN = SPECIAL.index("</s>"), SPECIAL.index("<unk>")
#: ``fairseq-preprocess`` pads the number of symbols to a multiple of this.
MULTIPLE = 8

MAGIC = b"MMIDIDX\x00\x00"
VERSION = 1
#: fairseq's codes of the number types.
CODES: dict[Any, int] = {np.uint16: 8, np.uint32: 9}
#: The fields of an index behind ``MAGIC``: version, number type, number of sentences.
HEADER = "<QBQ"
#: Vocabularies of at least this size have the wider number type.
WIDE = 65_500


def write_vocabulary(counts: Counter[str], path: Path) -> None:
    """Write a dictionary as ``fairseq-preprocess`` does: sorted by frequency, then by code points, and padded."""
    known = [(symbol, count) for symbol, count in counts.items() if symbol not in SPECIAL]
    listed = sorted(known, key=lambda item: (-item[1], item[0]))
    padding = -(len(SPECIAL) + len(listed)) % MULTIPLE
    listed += [(f"madeupword{number:04d}", 0) for number in range(padding)]
    path.write_text("".join(f"{symbol} {count}\n" for symbol, count in listed), encoding="utf-8", newline="\n")


def read_vocabulary(path: Path) -> list[str]:
    """Return the symbols of a dictionary, at the index that is their number."""
    lines = path.read_text(encoding="utf-8").split("\n")[:-1]
    return [*SPECIAL, *(line.rpartition(" ")[0] for line in lines)]


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
