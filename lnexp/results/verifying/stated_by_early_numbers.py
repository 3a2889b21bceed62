"""Hold ``early.csv`` against ``runs.csv``, the commands of runs, and what a number can be."""

from collections.abc import Hashable, Mapping, Sequence

import pandas as pd

from lnexp.results.evidence.published_evidence import PublishedRun
from lnexp.results.tables.early_numbers import UPDATES
from lnexp.results.verifying.possible_snapshots import are_due, impossible, refuse

#: The columns of runs.csv that bound those of early.csv, from below and from above.
LEAST = {
    "update_rms": "min_update_rms",
    "attention_entropy": "min_attention_entropy",
    "encoder_gradient_share": "min_encoder_gradient_share",
}
GREATEST = {
    "attention_logit": "max_attention_logit",
    "relative_update": "max_relative_update",
    "angular_update": "max_angular_update",
    "update_rms": "max_update_rms",
    "hidden_cosine": "max_hidden_cosine",
    "sharpness": "max_sharpness",
}
#: Either is made of the same records by the same code, but for how sums are rounded.
ALIKE = 1e-9


def refuse_other_early_numbers(early: pd.DataFrame, runs: Sequence[PublishedRun]) -> None:
    """Refuse an ``early.csv`` that gives other numbers than runs state, or has rows or numbers that no run has.

    Raises:
        ValueError: for such a table.
    """
    rows = dict(list(early.groupby("identity")))
    for run in runs:
        if (mine := rows.get(run.identity)) is not None:
            due = are_due(mine["update"], run, UPDATES)
            refuse("early.csv has other rows than a run has", run, [] if due else ["update"])
            refuse("early.csv gives other numbers than runs.csv states", run, _beyond(mine, run))
            refuse("early.csv has numbers that no run has", run, impossible(mine, run))


def _beyond(mine: pd.DataFrame, run: PublishedRun) -> list[str]:
    """Return the columns of ``early.csv`` with a number beyond the least or the greatest of all snapshots of a run."""
    signs: list[tuple[Mapping[str, str], int]] = [(LEAST, -1), (GREATEST, 1)]
    found: list[Hashable] = [
        name
        for extremes, sign in signs
        for name, column in extremes.items()
        if name in mine and column in run.end
        if (sign * mine[name].to_numpy() > sign * run.end[column] + ALIKE * abs(run.end[column])).any()
    ]
    return list(dict.fromkeys(map(str, found)))
