"""Compare the verdicts of Student's t test with those of an exact test."""

from collections.abc import Iterable
from dataclasses import dataclass

from lnexp.results.judging.tally import DECIDED, LEVEL
from lnexp.results.judging.verdict_file import JudgedClaim
from lnexp.results.statistics.sign_flips import FEWEST


@dataclass(frozen=True)
class ByExactTest:
    """Comparisons that Student's t decides.

    Attributes:
        alike: those of which the exact test has a p-value below 5%.
        others: those of which it has a higher one, with seeds enough for a lower one.
        few: those with fewer seeds than that, see :data:`lnexp.results.statistics.sign_flips.FEWEST`.
    """

    alike: tuple[JudgedClaim, ...]
    others: tuple[JudgedClaim, ...]
    few: tuple[JudgedClaim, ...]


def by_exact_test(claims: Iterable[JudgedClaim]) -> ByExactTest:
    """Return what the exact test says of those claims that are comparisons, and decided."""
    alike: list[JudgedClaim] = []
    others: list[JudgedClaim] = []
    few: list[JudgedClaim] = []
    for claim in claims:
        if claim.form != "comparison" or claim.verdict not in DECIDED or claim.exact_p is None:
            continue
        enough = claim.estimate is not None and claim.estimate.n >= FEWEST
        found = few if not enough else alike if claim.exact_p < LEVEL else others
        found.append(claim)
    return ByExactTest(tuple(alike), tuple(others), tuple(few))
