"""What is wrong with a line, and which sentence pairs are not worth training on."""

import codecs
import re
from collections.abc import Iterator
from dataclasses import dataclass

#: No sentence is as long; a file whose line ends were lost has such lines.
MAX_CHARACTERS = 10_000
CONTROL = "\x00-\x08\x0b-\x1f\x7f"
#: Marks that turn the order of reading, and a byte order mark within a text.
BIDIRECTIONAL = "\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff"
MARKS = re.compile(f"([{CONTROL}])|[{BIDIRECTIONAL}]")


def decode(line: bytes) -> str:
    """A line as text, without the carriage return or the byte order mark that Windows may have put there.

    Raises:
        UnicodeDecodeError: for bytes that are not UTF-8.
    """
    return line.removeprefix(codecs.BOM_UTF8).decode("utf-8").removesuffix("\r")


def flaw(line: str) -> str | None:
    """Why a line cannot be a sentence of a corpus, if it cannot."""
    if not line or line.isspace():
        return "empty line"
    if len(line) > MAX_CHARACTERS:
        return f"{len(line):,} characters in a line"
    if found := MARKS.search(line):
        return f"{'control character' if found[1] else 'bidirectional mark'} U+{ord(found[0]):04X}"
    return None


@dataclass(frozen=True)
class PairFilter:
    """Which tokenised pairs are kept for training: the rules of Moses' ``clean-corpus-n.perl``.

    Attributes:
        min_tokens, max_tokens: a side has so many, both included.
        max_ratio: of the longer side's tokens to the shorter side's.
        max_word_characters: of any token.
    """

    min_tokens: int = 1
    max_tokens: int = 175
    max_ratio: float = 1.5
    max_word_characters: int = 1000

    def reason(self, source: str, target: str) -> str | None:
        """Why a pair is left out, if it is."""
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
