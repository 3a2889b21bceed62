"""Show verdicts as signs."""

from lnexp.results.judging.judgement import Verdict
from lnexp.results.judging.verdict_file import JudgedClaim

MARKS: dict[Verdict, str] = {"reproduced": "✓", "contradicted": "✗", "inconclusive": "?", "not run": "–"}


def mark_of(claim: JudgedClaim) -> str:
    """Return the sign of a claim's verdict, in parentheses where tallies do not count the claim."""
    mark = MARKS[claim.verdict]
    return mark if claim.counts or claim.verdict == "not run" else f"({mark})"
