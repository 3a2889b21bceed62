"""Ask git of the repository that the project lies in."""

import subprocess
from pathlib import Path

from lnexp.paths import ROOT

#: Without locks that it can do without: somebody may commit meanwhile, and one that is killed would leave them there.
GIT = ("git", "--no-optional-locks")
#: How often it is asked where something kills it.
TRIES = 3


def ask_git(*arguments: str, folder: Path | None = None) -> str | None:
    """Return what git prints; None where it ends with an error, or is not there.

    A git that was killed says nothing of the repository, so it is asked again: a run would be recorded as of no commit.

    Args:
        arguments: the subcommand and its words.
        folder: where git is started; the project's folder by default.
    """
    for _ in range(TRIES):
        try:
            done = subprocess.run([*GIT, "-C", str(folder or ROOT), *arguments], capture_output=True, text=True)
        except (FileNotFoundError, PermissionError):
            return None
        if done.returncode >= 0:
            return None if done.returncode else done.stdout
    return None
