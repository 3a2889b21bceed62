"""Errors of the user, which are printed in one line without a traceback; suggestions of near names."""

import difflib
import traceback
from collections.abc import Iterable
from pathlib import Path

from lnexp.paths import ROOT
from lnexp.printable import printable


class UserError(Exception):
    """A mistake of the user or a fault outside the program; its text is the whole message, and printable."""

    def __init__(self, text: str):
        super().__init__(printable(text))


PACKAGE = ROOT / "lnexp"
#: Folders of the package that users add files to.
OF_USERS = tuple(
    PACKAGE / name
    for name in ("plugin/placements", "plugin/optimizers", "plugin/lr_schedules", "training/interventions")
)


def in_file_of_users(error: Exception) -> UserError | None:
    """Return an error that names file and line, where a file that users add has raised one; otherwise None.

    That is the case where the file is the innermost of the package's in the traceback, or cannot be parsed.
    """
    if isinstance(error, UserError):
        return None
    frames = [(frame.f_code.co_filename, line) for frame, line in traceback.walk_tb(error.__traceback__)]
    if isinstance(error, SyntaxError) and error.filename:
        frames.append((error.filename, error.lineno or 0))
    ours = [(Path(file), line) for file, line in frames if Path(file).is_relative_to(PACKAGE)]
    if not ours or ours[-1][0].parent not in OF_USERS:
        return None
    path, line = ours[-1]
    text = error.msg if isinstance(error, SyntaxError) else next(iter(str(error).splitlines()), "")
    return UserError(f"{path.relative_to(PACKAGE.parent)}, line {line}: {type(error).__name__}: {text}")


#: Number of names that a message lists where none is near.
MOST_NAMED = 24


def near_names(name: str, known: Iterable[str]) -> str:
    """Return a clause with the known names nearest to ``name``, or a list of known names where none is near."""
    known = sorted(known)
    near = difflib.get_close_matches(name, known, n=3, cutoff=0.5)
    if near:
        return f"did you mean {' or '.join(near)}?"
    more = f" and {len(known) - MOST_NAMED} more" if len(known) > MOST_NAMED else ""
    return f"there are: {', '.join(known[:MOST_NAMED])}{more}"
