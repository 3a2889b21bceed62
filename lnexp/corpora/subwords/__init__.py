"""Ways to cut words into subwords, one a file.

Each is a class with the settings of its config for fields. It learns from how often each word occurs and cuts one
word at a time: no subword reaches across a blank.
"""

from collections import Counter
from pathlib import Path
from typing import Protocol

from lnexp.errors import UserError


def most_frequent(words: Counter[str], limit: int) -> list[tuple[str, int]]:
    """The words that occur most often, with their counts; ties in the order of code points."""
    return sorted(words.items(), key=lambda item: (-item[1], item[0]))[:limit]


def check_whole(option: str, value: object) -> None:
    """Raises UserError where ``data.subword.<option>`` is no whole number of at least 1."""
    if isinstance(value, bool) or not isinstance(value, int) or value < 1:
        raise UserError(f"data.subword.{option}={value}: must be a whole number, at least 1")


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
