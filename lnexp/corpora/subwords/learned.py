"""Base class of methods that learn: from train into one file, or with a file learned elsewhere."""

import shutil
from abc import ABC, abstractmethod
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from lnexp.checks import check_whole
from lnexp.errors import UserError


@dataclass(frozen=True, kw_only=True)
class LearnedSubwords(ABC):
    """A method that learns, see :class:`lnexp.corpora.subwords.Subwords`.

    Attributes:
        size: how much to learn.
        most_frequent: number of word types to learn from, at most; it bounds the memory on a large corpus.
        sha256: of a file learned elsewhere; it only makes the settings of different files differ.
    """

    size: int
    most_frequent: int = 1_000_000
    sha256: str | None = None

    #: Name of the file with what was learned.
    FILE: ClassVar[str]
    #: Name of such a file in messages.
    WHAT: ClassVar[str]

    def __post_init__(self) -> None:
        check_whole("data.subword.size", self.size, least=1)
        check_whole("data.subword.most_frequent", self.most_frequent, least=1)

    @property
    @abstractmethod
    def given(self) -> str | None:
        """The path of a file learned elsewhere, or None."""

    @abstractmethod
    def train(self, words: list[tuple[str, int]], folder: Path) -> None:
        """Learn from words and their counts; write ``FILE`` to ``folder``, and no other file."""

    @abstractmethod
    def check(self, path: Path) -> bool:
        """Return whether a file has the format of ``FILE``."""

    def learn(self, words: Counter[str], folder: Path) -> None:
        """Learn from the words of the corpus, or copy the given file. Raises UserError for a file that cannot be it."""
        if self.given is None:
            # ties are sorted by code points, so that equal texts give equal subwords
            frequent = sorted(words.items(), key=lambda item: (-item[1], item[0]))[: self.most_frequent]
            self.train(frequent, folder)
        elif not Path(self.given).is_file():
            raise UserError(f"{self.given}: no such {self.WHAT}")
        elif not self.check(Path(self.given)):
            raise UserError(f"{self.given}: not a {self.WHAT}")
        else:
            shutil.copyfile(self.given, folder / self.FILE)
