"""What a claim can ask of a run: one function a measure. None where the run cannot answer."""

import math
import statistics
from collections.abc import Callable

from lnexp.results.collect import RunResult

Measure = Callable[[RunResult], float | None]


def _epoch_values(run: RunResult, key: str) -> list[float]:
    return [record[key] for record in run.epochs if record[key] is not None]


def best_bleu(run: RunResult) -> float | None:
    """Highest validation BLEU of any epoch; 0 for a run that diverged before its first."""
    values = _epoch_values(run, "valid_bleu")
    return max(values, default=0.0 if run.diverged else None)


def last_bleu(run: RunResult) -> float | None:
    """Validation BLEU of the last epoch; 0 for a run that diverged before its first."""
    values = _epoch_values(run, "valid_bleu")
    return values[-1] if values else (0.0 if run.diverged else None)


def early_bleu(run: RunResult) -> float | None:
    """Validation BLEU at three fifths of the epochs: the paper's 9th checkpoint of 15."""
    epoch = math.ceil(run.cfg.max_epoch * 3 / 5)
    values = [record["valid_bleu"] for record in run.epochs if record["epoch"] == epoch]
    return values[0] if values else (0.0 if run.diverged else None)


def best_nll(run: RunResult) -> float | None:
    """Lowest validation nll of any epoch, nats a token."""
    return min(_epoch_values(run, "valid_nll"), default=None)


def best_loss(run: RunResult) -> float | None:
    """Lowest label-smoothed validation loss of any epoch, nats a token."""
    return min(_epoch_values(run, "valid_loss"), default=None)


def last_nll(run: RunResult) -> float | None:
    """Validation nll of the last epoch, nats a token."""
    values = _epoch_values(run, "valid_nll")
    return values[-1] if values else None


def test_bleu(run: RunResult) -> float | None:
    """Detokenised BLEU on test; 0 for a diverged run without a checkpoint that decodes."""
    value = run.end.get("test_bleu")
    return 0.0 if value is None and run.diverged else value


def averaged_test_bleu(run: RunResult) -> float | None:
    """The same of the average of the last checkpoints, where ``evaluation.average_last`` asked for it; a diverged run
    has none.
    """
    return run.end.get("averaged_test_bleu")


def gradient_change(run: RunResult) -> float | None:
    """The gradient of the decoder's last W², expected over minibatches, at the last probe over that before training."""
    last_layer = max((record["layer"] for record in run.probes), default=0)
    return _gradient_changes(run).get(("decoder", last_layer, "W2"))


def mean_gradient_change(run: RunResult) -> float | None:
    """The same of all FFN matrices of both sides: their geometric mean."""
    changes = _gradient_changes(run)
    return statistics.geometric_mean(changes.values()) if changes and min(changes.values()) > 0 else None


def _gradient_changes(run: RunResult) -> dict[tuple[str, int, str], float]:
    """By side, layer and parameter, of those that were probed twice and had a gradient at all."""
    norms: dict[tuple[str, int, str], list[float]] = {}
    for record in run.probes:
        if record.get("grad_norm") is not None:
            norms.setdefault((record["side"], record["layer"], record["parameter"]), []).append(record["grad_norm"])
    return {which: seen[-1] / seen[0] for which, seen in norms.items() if len(seen) > 1 and seen[0] > 0}


def encoder_state_exponent(run: RunResult) -> float | None:
    """The p of ``E‖x‖²/d ~ l^p``, the hidden states by layer of the encoder at the last probe, by least squares."""
    return _state_exponent(run, "encoder")


def decoder_state_exponent(run: RunResult) -> float | None:
    """The same of the decoder."""
    return _state_exponent(run, "decoder")


def _state_exponent(run: RunResult, side: str) -> float | None:
    """None where a run was not probed, has a single layer, or states that have no logarithm."""
    seen = [record for record in run.probes if record.get("output") is not None and record["side"] == side]
    last = [record for record in seen if record["update"] == seen[-1]["update"]]
    if len(last) < 2 or not all(record["output"] > 0 for record in last):
        return None
    layers, states = ([math.log(record[key]) for record in last] for key in ("layer", "output"))
    return statistics.linear_regression(layers, states).slope


RUN_MEASURES: dict[str, Measure] = {
    measure.__name__: measure
    for measure in (
        best_bleu,
        last_bleu,
        early_bleu,
        best_loss,
        best_nll,
        last_nll,
        test_bleu,
        averaged_test_bleu,
        gradient_change,
        mean_gradient_change,
        encoder_state_exponent,
        decoder_state_exponent,
    )
}
