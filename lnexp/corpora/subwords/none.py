"""Words stay whole."""

from collections import Counter
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Whole:
    """See ``Subwords``."""

    def learn(self, words: Counter[str], folder: Path) -> None:
        """There is nothing to learn."""

    def cut(self, words: list[str], folder: Path) -> list[str]:
        """The words themselves."""
        return words
