"""Ask git about the repository that contains the project."""

import subprocess
from pathlib import Path

from lnexp.paths import ROOT

#: No optional locks: somebody may commit meanwhile, and a git that is killed would leave its lock behind.
GIT = ("git", "--no-optional-locks")
#: How often a git that is killed is run in all.
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
        except OSError:
            return None
        if done.returncode >= 0:
            return None if done.returncode else done.stdout
    return None
