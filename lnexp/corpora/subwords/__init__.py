"""Methods of segmenting words into subwords, one a file.

A method is a class whose fields are the settings of its config. It learns from the frequencies of words and segments
one word at a time, so no subword contains a blank.
"""

from collections import Counter
from pathlib import Path
from typing import Protocol


class Subwords(Protocol):
    """The interface of a method."""

    def __hash__(self) -> int:
        """Hash by the settings, by which a process caches what it has loaded."""

    def learn(self, words: Counter[str], folder: Path) -> None:
        """Learn from words and their frequencies; write to ``folder`` what ``segment`` needs.

        Raises:
            UserError: where the corpus is too small for the settings.
        """

    def segment(self, words: list[str], folder: Path) -> list[str]:
        """Return each word's subwords, joined by blanks and marked so that the word can be restored."""
