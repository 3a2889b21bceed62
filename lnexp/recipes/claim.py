"""Hold a claim of a recipe: a statement, and the test of it."""

from dataclasses import dataclass
from typing import Any, Literal, get_args

#: Where a claim is judged: ``relative`` ones on every corpus, in a form that compares our arms with each other;
#: ``absolute`` ones, which take the paper's own numbers, only with the paper's model on the paper's whole corpus.
Scope = Literal["relative", "absolute"]
#: Whether a claim's test was fixed before the runs that it is judged on.
Registered = Literal["before", "after"]


@dataclass(frozen=True)
class Claim:
    """One statement of the paper, and the test of it.

    Attributes:
        id: its name.
        source: where the paper states it, and what, in our words; the paper's own are in quotation marks.
        paper: the paper's numbers by arm; empty where it gives none.
        scope: where it is judged.
        holds_if: a test of measured quantities, see :mod:`lnexp.results.judging.forms`.
        why: why this test and this threshold.
        registered: whether the test was fixed before the first run that it is judged on, or after. Tallies count those
            from before alone.
        since: the commit that added it.
        exploratory: whether it shows no more than that the experiment can be run: too few updates, or scores too low,
            to judge the paper by. Tallies do not count it.
        implied_by: another claim of the recipe that says the same and more, alone or with another one, by its
            id. Tallies do not count the weaker one, whatever the verdicts: both speak of one effect.
        restates: another claim of the recipe that makes the same statement of the same arms with about the same margin
            in another measure, as in BLEU where this one is in nll, by its id. Tallies count that one alone, which was
            registered first or, at one commit, stands first in the recipe.
        check: whether it states nothing of the paper's, but what other claims need, as that a model has learned.
            Tallies do not count it.
    """

    id: str
    source: str
    paper: dict[str, Any]
    scope: Scope
    holds_if: str
    why: str
    registered: Registered
    since: str
    exploratory: bool = False
    implied_by: str = ""
    restates: str = ""
    check: bool = False

    def __post_init__(self) -> None:
        """Raise ValueError where it does not say when it was registered."""
        if self.registered not in get_args(Registered):
            raise ValueError(f"claim {self.id}: registered is one of {', '.join(get_args(Registered))}")
        if not isinstance(self.since, str) or not self.since:
            raise ValueError(f"claim {self.id}: since must be the short commit that added it, in quotes if all digits")
        for key in ("exploratory", "check"):
            if not isinstance(getattr(self, key), bool):
                raise ValueError(f"claim {self.id}: {key} is true or false")

    @property
    def left_out(self) -> str:
        """Why tallies do not count it, in words; empty where they do."""
        if self.exploratory:
            return "exploratory"
        if self.check:
            return "a check"
        if self.implied_by:
            return "implied by another claim"
        if self.restates:
            return "restates another claim"
        return "registered after the runs" if self.registered == "after" else ""

    @property
    def counts(self) -> bool:
        """Whether tallies count it."""
        return not self.left_out

    @property
    def standing(self) -> str:
        """When it was registered, and why it cannot count, in words."""
        implied = f"implied by {self.implied_by}" if self.implied_by else ""
        restated = f"restates {self.restates}" if self.restates else ""
        known = ("exploratory" if self.exploratory else "", "a check" if self.check else "", implied, restated)
        return ", ".join([f"registered {self.registered} the runs ({self.since})", *filter(None, known)])
