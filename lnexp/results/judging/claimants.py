"""Say whose statements the claims of a recipe are: of the paper's experiments, of its theory, or of others."""

from collections.abc import Iterable

from lnexp.recipes.jobs import THEORY
from lnexp.results.judging.verdicts import RecipeVerdicts

#: In this order people read them, as a sentence goes on after "contradicted are 6 of 87".
CLAIMANTS = ("on the paper's experiments", "on its theory", "beyond the paper")


def by_claimant(found: Iterable[RecipeVerdicts]) -> dict[str, list[RecipeVerdicts]]:
    """Return the verdicts of recipes by whose statements they judge; none is left out of :data:`CLAIMANTS`."""
    groups: dict[str, list[RecipeVerdicts]] = {name: [] for name in CLAIMANTS}
    experiments, theory, others = CLAIMANTS
    for one in found:
        beyond = one.content.figure.startswith("beyond")
        groups[others if beyond else theory if one.profile == THEORY else experiments].append(one)
    return groups
