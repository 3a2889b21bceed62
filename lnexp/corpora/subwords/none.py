"""No segmentation: words are the symbols."""

from collections import Counter
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Whole:
    """The method without subwords, see :class:`lnexp.corpora.subwords.Subwords`."""

    def learn(self, words: Counter[str], folder: Path) -> None:
        """Do nothing."""

    def segment(self, words: list[str], folder: Path) -> list[str]:
        """Return the words."""
        return words
