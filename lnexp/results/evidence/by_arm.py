"""Group evidence by its arms."""

from collections.abc import Iterable
from typing import TypeVar

from lnexp.results.evidence.contract import CountedRun, Evidence

Counted = TypeVar("Counted", bound=Evidence | CountedRun)


def counted_by_arm(evidence: Iterable[Counted]) -> dict[str, list[Counted]]:
    """Return the evidence that counts, by the name of its arm, in its order; arms that have none are left out."""
    by_arm: dict[str, list[Counted]] = {}
    for one in evidence:
        if one.counts:
            by_arm.setdefault(one.job.arm.name, []).append(one)
    return by_arm
