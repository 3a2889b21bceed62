"""Hold the judgement of a test over seeds, and read its verdict."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from lnexp.results.statistics.intervals import Interval

Verdict = Literal["reproduced", "contradicted", "inconclusive", "not run"]
FormName = Literal["comparison", "equivalence", "success rate"]

#: What the estimate of each form is, for people.
ESTIMATES: dict[FormName, str] = {
    "comparison": "margin",
    "equivalence": "difference (90% interval)",
    "success rate": "success rate",
}


@dataclass(frozen=True)
class Judgement:
    """What the seeds say of a test.

    Attributes:
        form: the form of the test.
        estimate: the quantity that people read, see :data:`ESTIMATES`; None where nothing was measured.
        margins: by how much each condition of the test holds, with the interval that decides it; all of them must hold.
            Empty where nothing was measured.
        p: the p-value of the decided direction; of the nearer one where neither is decided; below 5% exactly where
            there is a decision. None where there is a single seed, or none.
        exact_p: of a comparison, :func:`lnexp.results.statistics.sign_flips.p_of_sign_flips` of its margins, which
            decides nothing: it says whether a verdict needs margins to be normal. None for other forms.
    """

    form: FormName
    estimate: Interval | None
    margins: list[Interval]
    p: float | None
    exact_p: float | None = None

    @property
    def verdict(self) -> Verdict:
        return verdict_of(self.margins)


def verdict_of(margins: Sequence[Interval], undecided: bool = False) -> Verdict:
    """Return the verdict: whether all margins are above zero, one is below zero, or neither, each with its interval.

    Args:
        margins: of the seeds that have a value in every arm.
        undecided: whether the test has no value, or a run diverged without one. Such a run is worse than all others,
            and no margin holds it; what the other seeds say is said of runs that did not diverge, and decides nothing.
    """
    if undecided:
        return "inconclusive"
    if not margins:
        return "not run"
    if all(margin.low is not None and margin.low > 0 for margin in margins):
        return "reproduced"
    if any(margin.high is not None and margin.high < 0 for margin in margins):
        return "contradicted"
    return "inconclusive"
