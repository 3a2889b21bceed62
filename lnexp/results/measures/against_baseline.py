"""Compare how arms end with how a recipe's baseline does: by how many times their final nll is that of its runs."""

import math
from collections.abc import Iterable, Sequence

from lnexp.results.evidence.contract import CountedRun
from lnexp.results.statistics.intervals import Interval, interval
from lnexp.tasks.measures import last_nll


def nll_ratio(runs: Sequence[CountedRun], baseline: Sequence[CountedRun]) -> Interval | None:
    """Return the last validation nll of an arm's runs over that of the baseline's run of the same seed.

    It is the geometric mean over the seeds that both have a last nll of, with the 95% interval that Student's t gives
    of its logarithm; None where they share no seed.

    Args:
        runs: of the arm.
        baseline: the runs of the baseline.
    """
    mine, theirs = _by_seed(runs), _by_seed(baseline)
    found = interval([math.log(mine[seed] / theirs[seed]) for seed in sorted(mine.keys() & theirs.keys())])
    if found is None or found.low is None or found.high is None:
        return found and Interval(math.exp(found.mean), None, None, found.n)
    return Interval(math.exp(found.mean), math.exp(found.low), math.exp(found.high), found.n)


def _by_seed(runs: Iterable[CountedRun]) -> dict[int, float]:
    """Return the last nll by seed, of runs that have one above zero."""
    return {run.job.seed: nll for run in runs if (nll := last_nll(run))}
