"""Lines of words to lines of subwords and their numbers, remembering the words of before."""

from array import array
from functools import lru_cache
from itertools import chain
from pathlib import Path
from typing import NamedTuple

import numpy as np

from lnexp.corpora.indexed_dataset import number_type
from lnexp.corpora.subwords import Subwords
from lnexp.corpora.vocabulary import END, UNKNOWN, read_vocabulary

#: Words that are remembered before they are all forgotten.
MEMORY = 100_000


class Cut(NamedTuple):
    """Some lines after cutting.

    Attributes:
        text: the lines, each with its line feed.
        numbers: of all their subwords, with fairseq's end of sentence after each line.
        sizes: how many numbers each line has, as 32-bit integers.
        words, subwords, unknown: how many there are.
    """

    text: str
    numbers: bytes
    sizes: bytes
    words: int
    subwords: int
    unknown: int


class Cutter:
    """Cuts the lines of one language.

    Args:
        subwords: the way to cut words, which has learned in ``folder``.
        dictionary: fairseq's, of that language.
    """

    def __init__(self, subwords: Subwords, folder: Path, dictionary: Path):
        self._subwords, self._folder = subwords, folder
        symbols = read_vocabulary(dictionary)
        self._number = {symbol: number for number, symbol in enumerate(symbols)}
        self._kind = np.dtype(number_type(len(symbols)))
        self._end = self._packed([END])
        self._cut: dict[str, str] = {}
        self._numbers: dict[str, bytes] = {}

    def cut(self, lines: list[str]) -> Cut:
        """Cut lines of words with white space between them."""
        split = [line.split() for line in lines]
        self._remember(set(chain.from_iterable(split)))
        cut, numbers = self._cut, self._numbers
        text = [" ".join([cut[word] for word in words]) for words in split]
        rows = [b"".join([numbers[word] for word in words]) + self._end for words in split]
        everything = np.frombuffer(b"".join(rows), dtype=self._kind)
        return Cut(
            text="".join(f"{line}\n" for line in text),
            numbers=everything.tobytes(),
            sizes=array("i", [len(row) // len(self._end) for row in rows]).tobytes(),
            words=sum(map(len, split)),
            subwords=len(everything) - len(rows),
            unknown=int(np.count_nonzero(everything == UNKNOWN)),
        )

    def _remember(self, words: set[str]) -> None:
        if len(self._cut) > MEMORY:
            self._cut.clear()
            self._numbers.clear()
        new = list(words - self._cut.keys())
        for word, subwords in zip(new, self._subwords.cut(new, self._folder), strict=True):
            self._cut[word] = subwords
            self._numbers[word] = self._packed([self._number.get(subword, UNKNOWN) for subword in subwords.split()])

    def _packed(self, numbers: list[int]) -> bytes:
        return array(self._kind.char, numbers).tobytes()


@lru_cache(maxsize=4)
def cutter(subwords: Subwords, folder: Path, dictionary: Path) -> Cutter:
    """This process' cutter for such text."""
    return Cutter(subwords, folder, dictionary)
