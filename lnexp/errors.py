"""What a user did or has that cannot work: told in one line, without a traceback."""

import difflib
from collections.abc import Iterable


class UserError(Exception):
    """A mistake or a condition outside the program; its text is the whole message."""


def near_names(name: str, known: Iterable[str]) -> str:
    """Return a clause that offers the known names nearest to ``name``, or else all of them."""
    known = sorted(known)
    near = difflib.get_close_matches(name, known, n=3, cutoff=0.5)
    return f"did you mean {' or '.join(near)}?" if near else f"there are: {', '.join(known)}"
