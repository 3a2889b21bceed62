"""Find out whether a claim was registered before the runs that it is judged on."""

from collections.abc import Collection

from lnexp.recipes.claim import Claim, Registered
from lnexp.results.judging.history import contains, in_repository


def registered(claim: Claim, commits: Collection[str]) -> Registered:
    """Return when a claim was registered, for given runs.

    A recipe says ``after`` of a claim whose author knew results with the same seeds. Where it says ``before``, git must
    know that the code that made the runs had the claim; outside a repository the recipe is believed.

    Args:
        claim: as its recipe states it.
        commits: of the code that made the runs.
    """
    if in_repository() and not all(contains(commit, claim.since) for commit in commits):
        return "after"
    return claim.registered
