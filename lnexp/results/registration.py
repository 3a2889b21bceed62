"""Find out whether a claim was registered before the runs that it is judged on."""

import subprocess
from collections.abc import Collection
from functools import cache

from lnexp.paths import ROOT
from lnexp.recipes.recipe import Claim, Registered


def registered(claim: Claim, commits: Collection[str]) -> Registered:
    """Return when a claim was registered, for the runs at hand.

    A recipe says ``after`` of a claim whose author knew results with the same seeds. Where it says ``before``, the code
    that made the runs must have had the claim, or else they are older than the claim.

    Args:
        claim: as its recipe states it.
        commits: of the code that made the runs.
    """
    older = any(_lacks(commit, claim.since) for commit in commits)
    return "after" if older else claim.registered


@cache
def _lacks(commit: str, since: str) -> bool:
    """Return whether git knows both commits, and the first does not contain the second."""
    command = ["git", "-C", str(ROOT), "merge-base", "--is-ancestor", since, commit]
    try:
        return subprocess.run(command, capture_output=True, check=False).returncode == 1
    except OSError:
        return False
