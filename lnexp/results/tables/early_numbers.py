"""Make ``early.csv``: what was measured of each run after its first 8, 16, 32 and 64 updates."""

import statistics
from collections.abc import Iterable
from typing import Any

import pandas as pd

from lnexp.results.evidence.run_result import RunResult
from lnexp.results.tables.run_tables import of_run
from lnexp.tasks.contract import Record
from lnexp.tasks.diagnosed import series_of, snapshot_numbers

#: The updates that a run is looked at after, from 1; ``diagnostics.at=log`` takes a snapshot of each.
UPDATES = (8, 16, 32, 64)
#: Recorded of every update. One alone has the noise of its batch, so these are means over the half before.
SERIES = ("train_loss", "grad_norm")


def early_table(runs: Iterable[RunResult]) -> pd.DataFrame:
    """Return ``early.csv``: a row a run and update of :data:`UPDATES`; empty where no run has snapshots.

    A row has ``update``, the means of :data:`SERIES` over the second half of the updates up to it (label-smoothed loss,
    nats a token, and the gradient's norm before clipping), and what the snapshot of the update says of the whole model.
    """
    return pd.DataFrame([of_run(run) | row for run in runs for row in early_numbers(run)])


def early_numbers(run: RunResult) -> list[Record]:
    """Return the early numbers of a run by ``update``, oldest first; of one from a published table, those it states."""
    if not run.snapshots:
        return run.stated_early
    series = {name: series_of(run, name) for name in SERIES}
    return [
        {"update": update, **_means(series, update), **snapshot_numbers(record)}
        for record in run.snapshots
        if (update := record["update"]) in UPDATES
    ]


def _means(series: dict[str, list[float | None]], update: int) -> dict[str, Any]:
    """Return the mean of each series over updates ``update / 2 + 1`` to ``update``; none where one was not finite."""
    halves = {name: values[update // 2 : update] for name, values in series.items()}
    return {
        name: statistics.fmean(known)
        for name, values in halves.items()
        if values and len(known := [value for value in values if value is not None]) == len(values)
    }
