"""Count verdicts, and say how many survive Holm's correction for the number of tests.

What counts: claims that were registered before the runs, are not exploratory and were judged on all seeds of the
longest plan, today's or one from when the runs were made; no check, none that another claim implies and none that
restates one; and of those with one contrast (the same numbers decide, whatever recipe asks) one.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from lnexp.results.judging.judgement import Verdict
from lnexp.results.judging.verdict_file import JudgedClaim

LEVEL = 0.05
#: Why a claim does not count that would but for another one, which the same numbers decide.
REPEATED = "decided by the numbers of another claim"
DECIDED: tuple[Verdict, ...] = ("reproduced", "contradicted")
#: In this order people read them.
ORDER: tuple[Verdict, ...] = ("reproduced", "contradicted", "inconclusive", "not run")


@dataclass(frozen=True)
class Tally:
    """A count of verdicts.

    Attributes:
        verdicts: how many of the claims that count have which verdict.
        decisions: those of them that are reproduced or contradicted.
        repeated: those that count but for another claim before them, which the same numbers decide.
        surviving: the contrasts that survive Holm's correction at 5% over all that were judged.
        left_out: how many claims do not count, by why.
    """

    verdicts: dict[Verdict, int]
    decisions: tuple[JudgedClaim, ...]
    repeated: tuple[JudgedClaim, ...]
    surviving: frozenset[str]
    left_out: dict[str, int]

    @property
    def decided(self) -> int:
        """How many of the claims that count are reproduced or contradicted."""
        return len(self.decisions)

    @property
    def survive(self) -> int:
        """How many of the decided ones survive the correction."""
        return len(self.surviving.intersection(claim.contrast for claim in self.decisions))

    @property
    def weak(self) -> tuple[JudgedClaim, ...]:
        """The decided claims that do not survive it, with those that the same numbers decide."""
        decided = [claim for claim in (*self.decisions, *self.repeated) if claim.verdict in DECIDED]
        return tuple(claim for claim in decided if claim.contrast not in self.surviving)

    @property
    def text(self) -> str:
        """The tally in a sentence or two."""
        said = self._counts
        if self.left_out:
            said += f" (not counted: {self._reasons})"
        if self.decided:
            said += (
                f"; {self.survive} of {self.decided} decided verdicts survive Holm's correction at 5% over these claims"
            )
        return said

    @property
    def short_text(self) -> str:
        """The tally for the last screen: first what was judged, then what was not run and what does not count."""
        judged = {verdict: number for verdict, number in self.verdicts.items() if number and verdict != "not run"}
        counts = ", ".join(f"{number} {verdict}" for verdict, number in judged.items())
        said = [f"{_claims(sum(judged.values()))} judged: {counts}" if judged else "no claim that counts was judged"]
        if self.verdicts["not run"]:
            said.append(f"{self.verdicts['not run']} not run")
        if self.left_out:
            more = sum(self.left_out.values())
            said.append(f"{more} more {'does' if more == 1 else 'do'} not count: {self._reasons}")
        if self.decided:
            said.append(f"{self.survive} of {self.decided} decided ones survive Holm's correction for so many tests")
        return "; ".join(said)

    @property
    def _reasons(self) -> str:
        return ", ".join(f"{number} {why}" for why, number in self.left_out.items())

    @property
    def _counts(self) -> str:
        counts = ", ".join(f"{number} {verdict}" for verdict, number in self.verdicts.items() if number)
        return f"{_claims(sum(self.verdicts.values()))}: {counts or 'none counts'}"


def _claims(number: int) -> str:
    return f"{number} claim{'' if number == 1 else 's'}"


def judged_in_words(claims: Iterable[JudgedClaim]) -> str:
    """Return how many claims have which verdict, and how many of these count; empty where none was judged."""
    judged = [claim for claim in claims if claim.verdict != "not run"]
    if not judged:
        return ""
    verdicts = Counter(claim.verdict for claim in judged)
    counts = ", ".join(f"{verdicts[verdict]} {verdict}" for verdict in ORDER if verdicts[verdict])
    return f"{_claims(len(judged))}: {counts}; {sum(claim.counts for claim in judged)} of them count"


def tally(claims: Iterable[JudgedClaim]) -> Tally:
    """Return the tally of claims, of one recipe or of several."""
    verdicts: dict[Verdict, int] = dict.fromkeys(ORDER, 0)
    left_out: Counter[str] = Counter()
    judged: dict[str, JudgedClaim] = {}
    repeated: list[JudgedClaim] = []
    for claim in claims:
        if claim.left_out:
            left_out[claim.left_out] += 1
        elif claim.contrast in judged:
            left_out[REPEATED] += 1
            repeated.append(claim)
        else:
            verdicts[claim.verdict] += 1
            if claim.verdict != "not run":
                judged[claim.contrast] = claim
    p_values = [1.0 if claim.p is None else claim.p for claim in judged.values()]
    return Tally(
        verdicts,
        decisions=tuple(claim for claim in judged.values() if claim.verdict in DECIDED),
        repeated=tuple(repeated),
        surviving=frozenset(contrast for contrast, survives in zip(judged, holm(p_values), strict=True) if survives),
        left_out=dict(left_out),
    )


def holm(p_values: Sequence[float]) -> list[bool]:
    """Return which tests are significant with a familywise error of :data:`LEVEL` (Holm 1979), in the order given."""
    ordered = sorted(range(len(p_values)), key=p_values.__getitem__)
    significant = [False] * len(p_values)
    for rank, number in enumerate(ordered):
        if p_values[number] >= LEVEL / (len(p_values) - rank):
            break
        significant[number] = True
    return significant
