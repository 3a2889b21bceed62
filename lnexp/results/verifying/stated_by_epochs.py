"""Compare what ``runs.csv`` states of a run with the epochs of ``epochs.csv`` that it is a summary of.

The epochs of a run are those with its arm, seed and identity.
"""

import math
from collections.abc import Sequence
from itertools import pairwise

from lnexp.options import key_of
from lnexp.results.evidence.published_evidence import PublishedRun
from lnexp.results.verifying.rounding import alike
from lnexp.runs import records
from lnexp.tasks import load_task, table_of_task
from lnexp.tasks.measures import best, best_nll, last, last_known

#: How far the seconds of a run, which are stated to the tenth, may be from the sum of its epochs'.
ROUNDING = 0.101


def denied_by_epochs(run: PublishedRun) -> list[str]:
    """Return the columns of a run's row whose numbers are others than its epochs give, as ``best_valid_bleu``."""
    score = load_task(run.job.recipe.task).score
    given = {
        "epochs": len(run.epochs),
        score.best: best(run, score),
        score.last: last(run, score),
        "best_valid_nll": best_nll(run),
        "last_valid_nll": last_known(run.epochs, "valid_nll"),
    }
    wrong = [name for name, value in given.items() if not alike(run.end.get(name), value)]
    stated, summed = run.end.get("seconds"), records.seconds(run.epochs)
    if stated is None or not math.isclose(stated, summed, abs_tol=ROUNDING):
        wrong.append("seconds")
    if (run.state == "finished" and not _is_whole(run)) or (run.diverged and _is_at_its_end(run)):
        wrong.append("status")
    return [*wrong, *_out_of_order(run)]


#: Options that end a run before its last epoch, at an update that they do not name.
ENDING = ("stop_min_lr", "stop_time_hours")


def _is_whole(run: PublishedRun) -> bool:
    """Return whether a run has its last epoch or update, or ended at another for a reason that its arm has."""
    return _is_at_its_end(run) or bool(run.epochs and any(option in _asked(run) for option in ENDING))


def _is_at_its_end(run: PublishedRun) -> bool:
    """Return whether a run has its last epoch or update. One that diverged does not: where it did has no record."""
    if not run.epochs:
        return False
    last, most = run.epochs[-1], run.settings.get("max_update")
    asked = _asked(run)
    if said := asked.get("max_update"):  # a number, or another setting, as ${warmup_updates}
        most = int(said) if said.isdecimal() else run.settings.get(said.strip("${}"))
    return bool(last["epoch"] == run.settings.get("max_epoch", last["epoch"]) or last["update"] == most)


def _asked(run: PublishedRun) -> dict[str, str]:
    """Return what an arm sets, by the last part of each option's name."""
    return {key_of(override).rpartition(".")[2]: override.partition("=")[2] for override in run.job.overrides}


def _out_of_order(run: PublishedRun) -> list[str]:
    """Return ``order of epochs`` and ``order of updates`` where one is not that of training."""
    epochs, updates = ([record[name] for record in run.epochs] for name in ("epoch", "update"))
    whole = epochs == list(range(1, len(epochs) + 1)) or (_may_skip_epochs(run) and _rises(epochs))
    checked = {"order of epochs": whole, "order of updates": _rises(updates)}
    return [name for name, holds in checked.items() if not holds]


def _may_skip_epochs(run: PublishedRun) -> bool:
    """Return whether the recipe sets an option with which not every epoch has a record."""
    skipping = table_of_task(run.job.recipe.task).places(lambda option: option.skips_epochs)
    return any(key_of(override) in skipping for override in run.job.overrides)


def _rises(numbers: Sequence[float]) -> bool:
    return all(low < high for low, high in pairwise(numbers))
