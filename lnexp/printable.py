"""Escape characters of a text that a terminal would obey, or that no file can have."""

import re

#: Control characters but for line feeds and tabs, and halves of surrogate pairs.
NOT_PRINTABLE = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff]")


def printable(text: str) -> str:
    r"""Return a text with such characters escaped, as ``\x1b``; all others stay."""
    return NOT_PRINTABLE.sub(lambda found: ascii(found[0])[1:-1], text)


def is_printable(text: str) -> bool:
    """Return whether a text has no such character. Folders of ours have none in their names."""
    return not NOT_PRINTABLE.search(text)
