"""Find malformed lines, and filter sentence pairs as Moses does."""

import codecs
import re
from collections.abc import Iterator
from dataclasses import dataclass

from lnexp.errors import UserError

#: Longer lines come from files that lost their line ends.
MAX_CHARACTERS = 10_000
CONTROL = "\x00-\x08\x0b-\x1f\x7f"
#: Marks that change the reading direction, and byte order marks within a text.
BIDIRECTIONAL = "\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff"
MARKS = re.compile(f"([{CONTROL}])|[{BIDIRECTIONAL}]")


def decode(line: bytes) -> str:
    """Decode a line from UTF-8, without the carriage return or the byte order mark that Windows programs add.

    Raises:
        UnicodeDecodeError: for bytes that are not UTF-8.
    """
    return line.removeprefix(codecs.BOM_UTF8).decode("utf-8").removesuffix("\r")


def decode_at(line: bytes, place: object) -> str:
    """Decode a line as :func:`decode` does. Raises UserError, which names its place, for bytes that are not UTF-8."""
    try:
        return decode(line)
    except UnicodeDecodeError:
        raise UserError(f"{place}: not UTF-8") from None


def flaw(line: str) -> str | None:
    """Return why a line is not a valid sentence, or None where it is valid."""
    if not line or line.isspace():
        return "empty line"
    if len(line) > MAX_CHARACTERS:
        return f"{len(line):,} characters in a line"
    return mark_in(line)


def mark_in(line: str) -> str | None:
    """Return which control character or bidirectional mark a line has first, or None where it has none."""
    if found := MARKS.search(line):
        return f"{'control character' if found[1] else 'bidirectional mark'} U+{ord(found[0]):04X}"
    return None


@dataclass(frozen=True)
class PairFilter:
    """Selects tokenised pairs for training by the rules of Moses' ``clean-corpus-n.perl``.

    Attributes:
        min_tokens, max_tokens: limits of the tokens of either sentence, inclusive.
        max_ratio: limit of the tokens of the longer sentence over those of the shorter one.
        max_word_characters: limit of the characters of every token.
    """

    min_tokens: int = 1
    max_tokens: int = 175
    max_ratio: float = 1.5
    max_word_characters: int = 1000

    def reason(self, source: str, target: str) -> str | None:
        """Return why a pair is left out, or None where it is kept."""
        sides = source.split(), target.split()
        lengths = len(sides[0]), len(sides[1])
        shorter, longer = min(lengths), max(lengths)
        if shorter < self.min_tokens or not shorter:
            return f"fewer than {max(self.min_tokens, 1)} tokens"
        if longer > self.max_tokens:
            return f"more than {self.max_tokens} tokens"
        if longer / shorter > self.max_ratio:
            return f"ratio above {self.max_ratio:g}"
        if max(len(source), len(target)) > self.max_word_characters and any(self._long_words(sides)):
            return f"a word of more than {self.max_word_characters:,} characters"
        return None

    def _long_words(self, sides: tuple[list[str], list[str]]) -> Iterator[bool]:
        return (len(word) > self.max_word_characters for words in sides for word in words)
