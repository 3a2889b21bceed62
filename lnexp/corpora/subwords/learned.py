"""What the ways that learn have in common: from train into one file, or a file that was learned elsewhere."""

import shutil
from abc import ABC, abstractmethod
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from lnexp.checks import check_whole
from lnexp.errors import UserError


@dataclass(frozen=True, kw_only=True)
class Learned(ABC):
    """See ``Subwords``.

    Attributes:
        size: how much to learn.
        most_frequent: learn from so many word types at most, which bounds the memory on a large corpus.
        sha256: of a file learned elsewhere; tells settings apart, nothing more.
    """

    size: int
    most_frequent: int = 1_000_000
    sha256: str | None = None

    #: The file that it learns into.
    FILE: ClassVar[str]
    #: What people call it.
    WHAT: ClassVar[str]

    def __post_init__(self) -> None:
        check_whole("data.subword.size", self.size, least=1)
        check_whole("data.subword.most_frequent", self.most_frequent, least=1)

    @property
    @abstractmethod
    def given(self) -> str | None:
        """The path of a file learned elsewhere, if there is one."""

    @abstractmethod
    def train(self, words: list[tuple[str, int]], folder: Path) -> None:
        """Learn from words and their counts; leave ``FILE`` in ``folder``, and nothing else."""

    @abstractmethod
    def check(self, path: Path) -> bool:
        """Whether a file is one that it could have learned."""

    def learn(self, words: Counter[str], folder: Path) -> None:
        """Learn from both languages together, or take the given file."""
        if self.given is None:
            # ties in the order of code points, so that the same text always teaches the same
            frequent = sorted(words.items(), key=lambda item: (-item[1], item[0]))[: self.most_frequent]
            self.train(frequent, folder)
        elif not Path(self.given).is_file():
            raise UserError(f"{self.given}: no such {self.WHAT}")
        elif not self.check(Path(self.given)):
            raise UserError(f"{self.given}: not a {self.WHAT}")
        else:
            shutil.copyfile(self.given, folder / self.FILE)
