"""Escape characters of a text that a terminal would obey, that nobody sees, or that no file can have."""

import re
from collections.abc import Sequence
from pathlib import Path

#: Control characters but for line feeds and tabs, halves of surrogate pairs, other ends of lines, and the characters
#: that Unicode has for formats: they have no width, or turn the text after them around, so that it reads as another.
NOT_PRINTABLE = re.compile(
    r"[\x00-\x08\x0b-\x1f\x7f-\x9f\xad\u034f\u0600-\u0605\u061c\u06dd\u070f\u115f\u1160\u17b4\u17b5\u180b-\u180f"
    r"\u200b-\u200f\u2028-\u202e\u2060-\u206f\u3164\ud800-\udfff\ufe00-\ufe0f\ufeff\uffa0\ufff9-\ufffb"
    r"\U0001d173-\U0001d17a\U000e0000-\U000e01ef]"
)


def printable(text: str) -> str:
    r"""Return a text with such characters escaped, as ``\x1b``; all others stay."""
    return NOT_PRINTABLE.sub(lambda found: ascii(found[0])[1:-1], text)


def one_line(text: str) -> str:
    """Return a text in one line, without the ends of lines that are in it."""
    return " ".join(text.split())


def first_few(names: Sequence[str], most: int) -> str:
    """Return the first names with commas between them, and how many more there are, as ``a, b and 3 more``."""
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return f"{', '.join(names[:most])}{more}"


def has_name(folder: Path, levels: int) -> bool:
    """Return whether the names of a folder and of those above it can be printed, so many levels in all."""
    return is_printable("/".join(folder.parts[-levels:]))


def is_printable(name: str) -> bool:
    """Return whether a name has no such character, and no end of a line. Folders of ours have none in their names."""
    return not NOT_PRINTABLE.search(name) and not set(name) & {"\n", "\t"}
