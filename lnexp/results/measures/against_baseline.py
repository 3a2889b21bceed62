"""Compare how arms end with how a baseline does: by how many times their final nll is that of its runs."""

import math
import statistics
from collections.abc import Iterable, Sequence

from lnexp.results.evidence.contract import CountedRun
from lnexp.results.statistics.intervals import Interval, Range, interval
from lnexp.tasks.measures import last_nll


def nll_ratios(runs: Iterable[CountedRun], baseline: Iterable[CountedRun]) -> list[float]:
    """Return the last validation nll of an arm's runs over that of the baseline's run of the same seed.

    Args:
        runs: of the arm.
        baseline: the runs of the baseline.

    Returns:
        A ratio for each seed that both have a last nll of, in their order; a diverged run has none.
    """
    mine, theirs = _by_seed(runs), _by_seed(baseline)
    return [mine[seed] / theirs[seed] for seed in sorted(mine.keys() & theirs.keys())]


def geometric_interval(ratios: Sequence[float]) -> Interval | None:
    """Return the geometric mean, with the 95% interval that Student's t gives of its logarithm; None for no ratio."""
    found = interval(list(map(math.log, ratios)))
    if found is None or found.low is None or found.high is None:
        return found and Interval(math.exp(found.mean), None, None, found.n)
    return Interval(math.exp(found.mean), math.exp(found.low), math.exp(found.high), found.n)


def geometric_range(ratios: Sequence[float]) -> Range | None:
    """Return the geometric mean with the least and the greatest ratio; None for no ratio."""
    return Range(statistics.geometric_mean(ratios), min(ratios), max(ratios), len(ratios)) if ratios else None


def _by_seed(runs: Iterable[CountedRun]) -> dict[int, float]:
    """Return the last nll by seed, of runs that have one above zero."""
    return {run.job.seed: nll for run in runs if (nll := last_nll(run))}
