"""Ways to cut words into subwords, one a file.

Each is a class with the settings of its config for fields. It learns from how often each word occurs and cuts one
word at a time: no subword reaches across a blank.
"""

from collections import Counter
from pathlib import Path
from typing import Protocol


class Subwords(Protocol):
    """What every way can do."""

    def __hash__(self) -> int:
        """By its settings: a process keeps what it has loaded for them."""

    def learn(self, words: Counter[str], folder: Path) -> None:
        """Leave in ``folder`` what ``cut`` needs.

        Raises:
            UserError: where the corpus is too small for what is asked.
        """

    def cut(self, words: list[str], folder: Path) -> list[str]:
        """Each word as its subwords with blanks between them, marked so that they can be joined again."""
