"""Compare what ``runs.csv`` states of a run with the epochs of ``epochs.csv`` that it is a summary of."""

import math
from collections.abc import Sequence

from lnexp.results.claims import Evidence
from lnexp.results.published_evidence import PublishedRun
from lnexp.tasks import load_task
from lnexp.tasks.measures import best, best_nll, last, last_nll


def denied_by_epochs(evidence: Sequence[Evidence]) -> list[str]:
    """Return which numbers of runs are others than their epochs give, as ``post_ln seed 1: best_valid_bleu``.

    Args:
        evidence: of one folder of results; measurements before training have no epochs and are left out.
    """
    runs = [one for one in evidence if isinstance(one, PublishedRun) and one.counts]
    return [f"{run.job.arm.name} seed {run.job.seed}: {', '.join(wrong)}" for run in runs if (wrong := _wrong(run))]


def _wrong(run: PublishedRun) -> list[str]:
    score = load_task(run.job.recipe.task).score
    given = {
        "epochs": len(run.epochs),
        score.best: best(run, score),
        score.last: last(run, score),
        "best_valid_nll": best_nll(run),
        "last_valid_nll": last_nll(run),
    }
    return [name for name, value in given.items() if not _same(run.end.get(name), value)]


def _same(stated: float | None, given: float | None) -> bool:
    if stated is None or given is None:
        return stated is given
    return math.isclose(stated, given, rel_tol=1e-6, abs_tol=1e-9)
