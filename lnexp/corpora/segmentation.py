"""Segment lines of words into subwords and fairseq's symbol numbers, with a cache of words."""

from array import array
from functools import lru_cache
from itertools import chain
from pathlib import Path
from typing import NamedTuple

import numpy as np

from lnexp.corpora.fairseq_data import END, UNKNOWN, number_type, read_vocabulary
from lnexp.corpora.subwords import Subwords

#: Words in the cache before it is emptied.
CACHE_SIZE = 100_000


class SegmentedLines(NamedTuple):
    """Lines in subwords.

    Attributes:
        text: the lines, each with its line feed.
        numbers: of all subwords, with fairseq's end of sentence after each line.
        sizes: how many numbers each line has, as 32-bit integers.
        words, subwords, unknown: how many there are in all lines.
    """

    text: str
    numbers: bytes
    sizes: bytes
    words: int
    subwords: int
    unknown: int


class Segmenter:
    """Segments the lines of one language.

    Args:
        subwords: the method, which has learned in ``folder``.
        folder: of the corpus.
        dictionary: fairseq's, of that language.
    """

    def __init__(self, subwords: Subwords, folder: Path, dictionary: Path):
        self._subwords, self._folder = subwords, folder
        symbols = read_vocabulary(dictionary)
        self._number = {symbol: number for number, symbol in enumerate(symbols)}
        self._kind = np.dtype(number_type(len(symbols)))
        self._end = self._packed([END])
        self._subwords_of: dict[str, str] = {}
        self._numbers_of: dict[str, bytes] = {}

    def segment(self, lines: list[str]) -> SegmentedLines:
        """Segment lines of words with white space between them."""
        split = [line.split() for line in lines]
        self._fill_cache(set(chain.from_iterable(split)))
        subwords, numbers = self._subwords_of, self._numbers_of
        text = [" ".join([subwords[word] for word in words]) for words in split]
        rows = [b"".join([numbers[word] for word in words]) + self._end for words in split]
        everything = np.frombuffer(b"".join(rows), dtype=self._kind)
        return SegmentedLines(
            text="".join(f"{line}\n" for line in text),
            numbers=everything.tobytes(),
            sizes=array("i", [len(row) // len(self._end) for row in rows]).tobytes(),
            words=sum(map(len, split)),
            subwords=len(everything) - len(rows),
            unknown=int(np.count_nonzero(everything == UNKNOWN)),
        )

    def _fill_cache(self, words: set[str]) -> None:
        if len(self._subwords_of) > CACHE_SIZE:
            self._subwords_of.clear()
            self._numbers_of.clear()
        new = list(words - self._subwords_of.keys())
        for word, subwords in zip(new, self._subwords.segment(new, self._folder), strict=True):
            self._subwords_of[word] = subwords
            self._numbers_of[word] = self._packed([self._number.get(subword, UNKNOWN) for subword in subwords.split()])

    def _packed(self, numbers: list[int]) -> bytes:
        return array(self._kind.char, numbers).tobytes()


@lru_cache(maxsize=4)
def segmenter(subwords: Subwords, folder: Path, dictionary: Path) -> Segmenter:
    """Return this process' segmenter with these arguments."""
    return Segmenter(subwords, folder, dictionary)
