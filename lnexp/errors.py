"""What a user did or has that cannot work: told in one line, without a traceback."""

import difflib
from collections.abc import Iterable


class UserError(Exception):
    """A mistake or a condition outside the program; its text is the whole message."""


#: Where no name is near, more are not listed.
MOST_NAMED = 24


def near_names(name: str, known: Iterable[str]) -> str:
    """Return a clause that offers the known names nearest to ``name``, or else as many as fit into a message."""
    known = sorted(known)
    near = difflib.get_close_matches(name, known, n=3, cutoff=0.5)
    if near:
        return f"did you mean {' or '.join(near)}?"
    more = f" and {len(known) - MOST_NAMED} more" if len(known) > MOST_NAMED else ""
    return f"there are: {', '.join(known[:MOST_NAMED])}{more}"
