"""Measure a run by its diagnostics: what its updates and snapshots recorded, see :mod:`lnexp.runs.records`.

Each measure is a column of ``runs.csv`` of its name where a run has it. Published tables have no records of updates or
snapshots: there a measure is what the column states. None where a run recorded nothing, or not every update.
"""

import statistics
from collections.abc import Iterator, Sequence
from functools import wraps

from lnexp.tasks.contract import Measure, MeasuredRun, Record

#: Updates before one that it is compared with. OLMo 2 takes 1,000 of hundreds of thousands; small runs have hundreds.
WINDOW = 60
#: Standard deviations from their mean at which a value is a spike.
DEVIATIONS = 7.0
#: The last update whose changes of hidden states are early ones.
EARLY = 32
#: The updates whose sharpness is the middle one: of the 480 of profile ``small`` those where training may stall.
MIDDLE = range(20, 201)
#: The ends of the names of matrices that are in no layer.
OUTSIDE_LAYERS = ("embed_tokens", "output_projection")
#: The rounding of recorded series, relative: a smaller standard deviation is not told from it.
ROUNDING = 1e-5


def spike_score(values: Sequence[float | None], window: int = WINDOW, deviations: float = DEVIATIONS) -> float | None:
    """Return the spike score of a series, in percent; None for one that is no longer than the window.

    It is the percentage of values at least seven standard deviations away from the rolling mean of the last 1,000
    (OLMo 2, arXiv 2501.00656, section 3.2). Here these are the ``window`` values before the one that is judged: one
    among 60 could hardly be so far from a mean that includes it. The first ``window`` values are not judged.

    Args:
        values: oldest first; None for one that was not finite, which is a spike.
        window: how many values before one it is compared with.
        deviations: how many of their (sample) standard deviations away a spike is, at least.
    """
    import numpy as np  # here, because every command reads this module

    if len(values) <= window:
        return None
    series = np.array([np.nan if value is None else value for value in values], dtype=float)
    before = np.lib.stride_tricks.sliding_window_view(series[:-1], window)
    mean, spread = before.mean(axis=1), before.std(axis=1, ddof=1)
    judged = series[window:]
    away = np.abs(judged - mean)
    far = (away > 0) & (away >= deviations * np.maximum(spread, ROUNDING * np.abs(mean)))
    return float(100 * (far | np.isnan(judged)).mean())


def series_of(run: MeasuredRun, name: str) -> list[float | None]:
    """Return ``train_loss`` or ``grad_norm`` of every update, from the first; empty where some were not recorded."""
    values: list[float | None] = []
    for record in run.updates:
        values += record[name]
        if len(values) != record["update"]:
            return []
    return values


#: All of them, by name.
DIAGNOSED: dict[str, Measure] = {}


def diagnosed(measure: Measure) -> Measure:
    """Register a measure by its name, that of its column, and return it with a fallback: where a run's records have
    no value, it is what the run's row of a published table states.
    """
    name = measure.__name__

    @wraps(measure)
    def measured_or_stated(run: MeasuredRun) -> float | None:
        value = measure(run)
        return run.end.get(name) if value is None else value

    DIAGNOSED[name] = measured_or_stated
    return measured_or_stated


@diagnosed
def spike_score_loss(run: MeasuredRun) -> float | None:
    """Return the spike score of the training loss: the percentage of updates whose loss is at least seven standard
    deviations away from the mean of the 60 updates before (in OLMo 2 of 1,000).
    """
    return spike_score(series_of(run, "train_loss"))


@diagnosed
def spike_score_grad_norm(run: MeasuredRun) -> float | None:
    """Return the spike score of the gradient norm before clipping, as that of the loss."""
    return spike_score(series_of(run, "grad_norm"))


@diagnosed
def max_attention_logit(run: MeasuredRun) -> float | None:
    """Return the largest attention logit of any layer at any snapshot."""
    found = [value for record in run.snapshots for value in _numbers(record, "attention_logit")]
    return max(found, default=None)


@diagnosed
def last_log_z(run: MeasuredRun) -> float | None:
    """Return log Z of the output softmax at the last snapshot, the mean over target tokens, nats."""
    return _last(_means(run, "log_z"))


@diagnosed
def max_relative_update(run: MeasuredRun) -> float | None:
    """Return the largest ‖ΔW‖/‖W‖ of any snapshot, each the mean over all matrices of parameters."""
    return max(_means(run, "relative_update"), default=None)


@diagnosed
def max_update_rms(run: MeasuredRun) -> float | None:
    """Return the largest root mean square of an update at any snapshot, in learning rates, each the mean over all
    matrices of parameters.
    """
    return max(_means(run, "update_rms"), default=None)


@diagnosed
def min_update_rms(run: MeasuredRun) -> float | None:
    """Return the smallest root mean square of an update at any snapshot, in learning rates, each the mean over all
    matrices of parameters: far below that of other runs where training stalls.
    """
    return min(_means(run, "update_rms"), default=None)


@diagnosed
def min_attention_entropy(run: MeasuredRun) -> float | None:
    """Return the least entropy of attention's weights at any snapshot, nats, each the mean over all attentions."""
    return min(_means(run, "attention_entropy"), default=None)


@diagnosed
def max_hidden_cosine(run: MeasuredRun) -> float | None:
    """Return the greatest mean cosine of two positions' hidden states at any snapshot, each the mean over all layers: 1
    where positions are all alike.
    """
    return max(_means(run, "hidden_cosine"), default=None)


@diagnosed
def min_encoder_gradient_share(run: MeasuredRun) -> float | None:
    """Return the least share at any snapshot that the encoder's layers have of the gradient's squared norm of all
    layers; None without a decoder.
    """
    shares = [share for record in run.snapshots if (share := _encoder_share(record)) is not None]
    return min(shares, default=None)


@diagnosed
def max_angular_update(run: MeasuredRun) -> float | None:
    """Return the largest angle of any snapshot that an update turns a matrix of parameters by, each the mean over all
    of them, radians.
    """
    return max(_means(run, "angular_update"), default=None)


@diagnosed
def last_angular_update(run: MeasuredRun) -> float | None:
    """Return the angle that an update turns a matrix of parameters by at the last snapshot, the mean over all of them,
    radians.
    """
    return _last(_means(run, "angular_update"))


@diagnosed
def first_sharpness(run: MeasuredRun) -> float | None:
    """Return the sharpness of the loss at the first snapshot, nats; see
    :class:`lnexp.training.diagnostics.sharpness.Sharpness`.
    """
    return next(iter(_means(run, "sharpness")), None)


@diagnosed
def max_sharpness(run: MeasuredRun) -> float | None:
    """Return the greatest sharpness of the loss at any snapshot, nats."""
    return max(_means(run, "sharpness"), default=None)


@diagnosed
def last_sharpness(run: MeasuredRun) -> float | None:
    """Return the sharpness of the loss at the last snapshot, nats."""
    return _last(_means(run, "sharpness"))


@diagnosed
def middle_sharpness(run: MeasuredRun) -> float | None:
    """Return the geometric mean of the sharpness of the loss over the snapshots of updates 20 to 200, nats; None where
    one of them has none, or one that is not positive, and without a later snapshot.
    """
    middle = [record for record in run.snapshots if record["update"] in MIDDLE]
    found = [value for record in middle for value in _numbers(record, "sharpness")]
    ended = any(record["update"] > MIDDLE[-1] for record in run.snapshots)
    whole = ended and len(found) == len(middle) and min(found, default=0) > 0
    return statistics.geometric_mean(found) if whole else None


@diagnosed
def first_encoder_change(run: MeasuredRun) -> float | None:
    """Return the ``state_change`` of the encoder's last layer at the first snapshot, see
    :class:`lnexp.training.diagnostics.state_changes.StateChanges`.
    """
    return next((_change(record, "encoder") for record in run.snapshots), None)


@diagnosed
def early_encoder_change(run: MeasuredRun) -> float | None:
    """Return the geometric mean of the ``state_change`` of the encoder's last layer over the snapshots of the first 32
    updates; None without one of the 32nd.
    """
    return _early_mean(run, "encoder")


@diagnosed
def early_decoder_change(run: MeasuredRun) -> float | None:
    """Return the geometric mean of the ``state_change`` of the decoder's last layer over the snapshots of the first 32
    updates; None without one of the 32nd.
    """
    return _early_mean(run, "decoder")


def _early_mean(run: MeasuredRun, side: str) -> float | None:
    changes = {record["update"]: _change(record, side) for record in run.snapshots if record["update"] <= EARLY}
    known = [change for change in changes.values() if change is not None]
    if EARLY not in changes or len(known) < len(changes):
        return None
    return statistics.geometric_mean(known) if min(known) > 0 else 0.0


def _change(record: Record, side: str) -> float | None:
    """Return the ``state_change`` of a side's last layer; None where it was not measured, or is not finite."""
    change: float | None = record.get(f"state_change.{side}", [None])[-1]
    return change


#: What :func:`snapshot_numbers` says as the mean over a model's modules and layers.
MEANS = ("log_z", "relative_update", "angular_update", "update_rms", "attention_entropy", "hidden_cosine", "sharpness")


def snapshot_numbers(record: Record) -> dict[str, float]:
    """Return what a snapshot says of the whole model: the means of :data:`MEANS`, the largest ``attention_logit``, and
    the ``encoder_gradient_share``; without those that it has no finite number of.
    """
    means = {name: statistics.fmean(found) for name in MEANS if (found := list(_numbers(record, name)))}
    others = {
        "attention_logit": max(_numbers(record, "attention_logit"), default=None),
        "encoder_gradient_share": _encoder_share(record),
    }
    return means | {name: value for name, value in others.items() if value is not None}


def _encoder_share(record: Record) -> float | None:
    """Return the share of one snapshot; None where it has not the gradients of both sides' layers."""
    encoder, decoder = (
        sum(value**2 for values in in_layers(record, "gradient_norm", side) for value in values if value is not None)
        for side in ("encoder", "decoder")
    )
    return encoder / (encoder + decoder) if encoder and decoder else None


def in_layers(record: Record, measure: str, side: str) -> list[list[float | None]]:
    """Return what a snapshot has of a measure in a side's layers, for each of their modules a number a layer; those of
    embeddings and of the output are left out.
    """
    start = f"{measure}.{side}"
    return [
        values
        for key, values in record.items()
        if (key == start or key.startswith(f"{start}.")) and not key.endswith(OUTSIDE_LAYERS)
    ]


def _numbers(record: Record, measure: str) -> Iterator[float]:
    """Yield the finite numbers of a measure, of all modules and layers of a snapshot."""
    for key, values in record.items():
        if key.startswith(f"{measure}."):
            yield from (value for value in values if value is not None)


def _means(run: MeasuredRun, measure: str) -> list[float]:
    """Return the mean of a measure at each snapshot that has a finite number of it."""
    found = (list(_numbers(record, measure)) for record in run.snapshots)
    return [statistics.fmean(numbers) for numbers in found if numbers]


def _last(values: Sequence[float]) -> float | None:
    return values[-1] if values else None
