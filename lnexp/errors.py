"""Errors of the user, which are printed in one line without a traceback; suggestions of near names."""

import difflib
from collections.abc import Iterable

from lnexp.printable import first_few, printable


class UserError(Exception):
    """A mistake of the user or a fault outside the program; its text is the whole message, and printable."""

    def __init__(self, text: str):
        super().__init__(printable(text))


class RefusedConfigError(UserError):
    """A config that no run can have: it leaves no run folder."""


def first_line(error: BaseException) -> str:
    """Return the first line of what an error says; its type where it says nothing."""
    return next(iter(str(error).splitlines()), type(error).__name__)


#: Number of names that a message lists where none is near.
MOST_NAMED = 24


def near_names(name: str, known: Iterable[str]) -> str:
    """Return a clause with the known names nearest to ``name``, or a list of known names where none is near."""
    known = sorted(known)
    near = difflib.get_close_matches(name, known, n=3, cutoff=0.5)
    if near:
        return f"did you mean {' or '.join(near)}?"
    return f"there are: {first_few(known, MOST_NAMED)}"


#: What is raised where a file that someone else may have written has numbers or words that make no sense together.
UNREADABLE = (OSError, LookupError, TypeError, ValueError, ArithmeticError)
