"""Make the table of snapshots: a row a run, update and layer, each with what its modules have together."""

import math
import statistics
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import pandas as pd

from lnexp.results.evidence.run_result import RunResult
from lnexp.results.tables.run_tables import of_run
from lnexp.tasks.contract import Record
from lnexp.tasks.diagnosed import in_layers, series_of

#: The columns, and what makes a layer's number of those of its modules.
MEASURES: dict[str, Callable[[Sequence[float]], float]] = {
    "hidden_state": statistics.fmean,
    "hidden_cosine": statistics.fmean,
    "attention_entropy": statistics.fmean,
    "attention_logit": max,
    "gradient_norm": lambda norms: math.hypot(*norms),
    "relative_update": statistics.fmean,
    "angular_update": statistics.fmean,
    "update_rms": statistics.fmean,
}
#: The column of layers that only some runs have.
STATE_CHANGE = "state_change"
OF_LAYERS = (*MEASURES, STATE_CHANGE)
#: The side of rows that are of a whole model; their layer is 0.
MODEL = "model"
#: Significant digits of a number.
DIGITS = 4


def snapshots_table(runs: Sequence[RunResult]) -> pd.DataFrame:
    """Return ``snapshots.csv``; empty where no run has snapshots of its layers.

    A row has ``update``, ``side`` (``encoder``, ``decoder``), ``layer`` (from 1) and a column for each of
    :data:`MEASURES`; the row of ``model`` has the ``train_loss`` of that update (label-smoothed, nats). Where they were
    measured, the row of ``model`` also has the ``sharpness`` before it, and those of layers the ``state_change``. A run
    from a published table has the rows that are stated there.
    """
    rows = [of_run(run) | row for run in runs for row in _of_run(run)]
    return pd.DataFrame(rows)


def _of_run(run: RunResult) -> Iterator[dict[str, Any]]:
    yield from run.stated_layers
    losses = series_of(run, "train_loss")
    for record in run.snapshots:
        counts = {
            key.partition(".")[2]: len(values) for key, values in record.items() if key.startswith("hidden_state.")
        }
        if counts and losses:
            of_model = {"train_loss": losses[record["update"] - 1]}
            if sharpness := record.get("sharpness.loss"):
                of_model["sharpness"] = sharpness[0]
            yield {"update": record["update"], "side": MODEL, "layer": 0, **of_model}
        for side, count in counts.items():
            for layer in range(count):
                numbers = {name: _together(record, name, side, layer, count) for name in MEASURES}
                if changes := record.get(f"{STATE_CHANGE}.{side}"):
                    numbers[STATE_CHANGE] = changes[layer]
                yield {"update": record["update"], "side": side, "layer": layer + 1, **numbers}


def _together(record: Record, measure: str, side: str, layer: int, count: int) -> float | None:
    """Return a layer's number; None where no module of it has a finite one."""
    modules = [values for values in in_layers(record, measure, side) if len(values) == count]
    found = [value for values in modules if (value := values[layer]) is not None]
    return float(f"{MEASURES[measure](found):.{DIGITS}g}") if found else None
