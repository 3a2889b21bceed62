"""Find out whether a claim was registered before the runs that it is judged on."""

import subprocess
from collections.abc import Collection
from functools import cache

from lnexp.paths import ROOT
from lnexp.recipes.recipe import Claim, Registered


def registered(claim: Claim, commits: Collection[str]) -> Registered:
    """Return when a claim was registered, for the runs at hand.

    A recipe says ``after`` of a claim whose author knew results with the same seeds. Where it says ``before``, git must
    know that the code that made the runs had the claim; outside a repository the recipe is believed.

    Args:
        claim: as its recipe states it.
        commits: of the code that made the runs.
    """
    if _in_repository() and not all(_contains(commit, claim.since) for commit in commits):
        return "after"
    return claim.registered


@cache
def _in_repository() -> bool:
    return _git("rev-parse", "HEAD")


@cache
def _contains(commit: str, since: str) -> bool:
    return _git("merge-base", "--is-ancestor", since, commit)


def _git(*arguments: str) -> bool:
    """Return whether git does this without an error."""
    try:
        return subprocess.run(["git", "-C", str(ROOT), *arguments], capture_output=True, check=False).returncode == 0
    except OSError:
        return False
