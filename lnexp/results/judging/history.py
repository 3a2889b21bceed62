"""Ask git of the project's history: whether it is known, and what a file said at a commit."""

import subprocess
from functools import cache

from lnexp.paths import ROOT


@cache
def in_repository() -> bool:
    """Return whether the project lies in a repository, and git is there."""
    return git("rev-parse", "HEAD") is not None


@cache
def contains(commit: str, earlier: str) -> bool:
    """Return whether a commit has another one in its history; False where git knows one of them not."""
    return git("merge-base", "--is-ancestor", "--end-of-options", earlier, commit) is not None


@cache
def file_at(commit: str, path: str) -> str | None:
    """Return the text of a file of the project at a commit; None where that is not known."""
    return git("show", "--end-of-options", f"{commit}:{path}")


def git(*arguments: str) -> str | None:
    """Return what git prints; None where it ends with an error, or is not there."""
    try:
        done = subprocess.run(["git", "-C", str(ROOT), *arguments], capture_output=True, text=True, check=False)
    except OSError:
        return None
    return done.stdout if done.returncode == 0 else None
