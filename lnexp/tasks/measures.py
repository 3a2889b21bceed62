"""Measure a trained run: what claims can ask, and what tables show. None where a run has no answer."""

import math
import statistics
from collections.abc import Iterable
from functools import partial

from lnexp.tasks.contract import Measure, MeasuredRun, Record, Score, Task
from lnexp.tasks.diagnosed import DIAGNOSED


def measures_of(task: Task) -> dict[str, Measure]:
    """Return every measure that claims on runs of a task can ask, by name."""
    score = task.score
    of_score = {
        f"best_{score.name}": best,
        f"last_{score.name}": last,
        f"early_{score.name}": early,
        f"test_{score.name}": test,
        f"averaged_test_{score.name}": averaged_test,
    }
    return {
        **{name: partial(measure, score=score) for name, measure in of_score.items()},
        "best_loss": best_loss,
        "early_loss": early_loss,
        "last_loss": last_loss,
        "best_nll": best_nll,
        "early_nll": early_nll,
        "last_nll": last_nll,
        "diverged": diverged,
        "gradient_change": partial(gradient_change, side=task.sides[-1]),
        "mean_gradient_change": mean_gradient_change,
        **{f"{side}_state_exponent": partial(state_exponent, side=side) for side in task.sides},
        **DIAGNOSED,
        **task.measures,
    }


def known_values(epochs: Iterable[Record], key: str) -> list[float]:
    """Return what epoch records have under a key, without the numbers that were not finite."""
    return [record[key] for record in epochs if record[key] is not None]


def last_known(epochs: Iterable[Record], key: str) -> float | None:
    """Return what the last epoch record with a finite number under a key has there; None where there is none."""
    return next(reversed(known_values(epochs, key)), None)


def best(run: MeasuredRun, score: Score) -> float | None:
    """Return the highest validation score of any epoch; the least possible for a run that diverged before its first."""
    return max(known_values(run.epochs, score.valid), default=_without_epochs(run, score))


def last(run: MeasuredRun, score: Score) -> float | None:
    """Return the validation score of the last epoch; the least possible for a run that diverged before its first."""
    values = known_values(run.epochs, score.valid)
    return values[-1] if values else _without_epochs(run, score)


def early(run: MeasuredRun, score: Score) -> float | None:
    """Return the validation score at three fifths of ``max_epoch``: the paper's 9th checkpoint of 15."""
    record = _early_record(run)
    return record[score.valid] if record else _without_epochs(run, score)


def _early_record(run: MeasuredRun) -> Record | None:
    epoch = math.ceil(run.cfg.max_epoch * 3 / 5)
    return next((record for record in run.epochs if record["epoch"] == epoch), None)


def _without_epochs(run: MeasuredRun, score: Score) -> float | None:
    return score.low if run.diverged else None


def test(run: MeasuredRun, score: Score) -> float | None:
    """Return the test score; the least possible for a diverged run without a checkpoint that can be tested."""
    value = run.end.get(score.test)
    return _without_epochs(run, score) if value is None else value


def averaged_test(run: MeasuredRun, score: Score) -> float | None:
    """Return the test score of the average of the last checkpoints, where ``evaluation.average_last`` asked for it; a
    diverged run has none.
    """
    return run.end.get(score.averaged_test)


def best_loss(run: MeasuredRun) -> float | None:
    """Return the lowest label-smoothed validation loss of any epoch, nats a token, hidden word or pair."""
    return min(known_values(run.epochs, "valid_loss"), default=None)


def early_loss(run: MeasuredRun) -> float | None:
    """Return the label-smoothed validation loss at three fifths of ``max_epoch``, nats a token, hidden word or pair."""
    record = _early_record(run)
    return record["valid_loss"] if record else None


def last_loss(run: MeasuredRun) -> float | None:
    """Return the label-smoothed validation loss of the last epoch, nats a token, hidden word or pair; a diverged run
    has none.
    """
    return None if run.diverged else last_known(run.epochs, "valid_loss")


def best_nll(run: MeasuredRun) -> float | None:
    """Return the lowest validation nll of any epoch, nats a token, hidden word or pair."""
    return min(known_values(run.epochs, "valid_nll"), default=None)


def early_nll(run: MeasuredRun) -> float | None:
    """Return the validation nll at three fifths of ``max_epoch``, nats a token, hidden word or pair."""
    record = _early_record(run)
    return record["valid_nll"] if record else None


def last_nll(run: MeasuredRun) -> float | None:
    """Return the validation nll of the last epoch, nats a token, hidden word or pair; a diverged run has none."""
    return None if run.diverged else last_known(run.epochs, "valid_nll")


def diverged(run: MeasuredRun) -> float:
    """Return 1 for a run that diverged, 0 for another."""
    return float(run.diverged)


def gradient_change(run: MeasuredRun, side: str) -> float | None:
    """Return the gradient norm of the last W² of a side, expected over minibatches: the last probe's over the first's,
    which is from before training.
    """
    last_layer = max((record["layer"] for record in run.probes if record["side"] == side), default=0)
    return _gradient_changes(run).get((side, last_layer, "W2"))


def mean_gradient_change(run: MeasuredRun) -> float | None:
    """Return the geometric mean, over all FFN matrices, of their gradient norm at the last probe over the first's."""
    changes = _gradient_changes(run)
    return statistics.geometric_mean(changes.values()) if changes and min(changes.values()) > 0 else None


def _gradient_changes(run: MeasuredRun) -> dict[tuple[str, int, str], float]:
    """Return the change by side, layer and parameter, of those that were probed before training and later, and had a
    gradient at first.
    """
    norms: dict[tuple[str, int, str], list[float]] = {}
    probes = run.probes if run.probes and run.probes[0]["update"] == 0 else []
    for record in probes:
        if record.get("grad_norm") is not None:
            norms.setdefault((record["side"], record["layer"], record["parameter"]), []).append(record["grad_norm"])
    return {which: seen[-1] / seen[0] for which, seen in norms.items() if len(seen) > 1 and seen[0] > 0}


def state_exponent(run: MeasuredRun, side: str) -> float | None:
    """Return the p of ``E‖x‖²/d ~ l^p``, the hidden states of a side by layer at the last probe, by least squares.

    None where a run was not probed, has a single layer, or states that have no logarithm.
    """
    seen = [record for record in run.probes if record.get("output") is not None and record["side"] == side]
    last_seen = [record for record in seen if record["update"] == seen[-1]["update"]]
    if len(last_seen) < 2 or not all(record["output"] > 0 for record in last_seen):
        return None
    layers, states = ([math.log(record[key]) for record in last_seen] for key in ("layer", "output"))
    return statistics.linear_regression(layers, states).slope
