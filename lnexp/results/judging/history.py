"""Ask git of the project's history: whether it is known, and what a file said at a commit."""

from functools import cache

from lnexp.git import ask_git


@cache
def in_repository() -> bool:
    """Return whether the project lies in a repository, and git is there."""
    return ask_git("rev-parse", "HEAD") is not None


@cache
def contains(commit: str, earlier: str) -> bool:
    """Return whether a commit has another one in its history; False if git does not know one of them."""
    return ask_git("merge-base", "--is-ancestor", "--end-of-options", earlier, commit) is not None


@cache
def file_at(commit: str, path: str) -> str | None:
    """Return the text of a file of the project at a commit; None where that is not known."""
    return ask_git("show", "--end-of-options", f"{commit}:{path}")
