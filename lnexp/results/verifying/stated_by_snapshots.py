"""Hold ``snapshots.csv`` against ``runs.csv``, the commands of runs, and what a number can be."""

import math
from collections.abc import Hashable, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from lnexp.results.evidence.published_evidence import PublishedRun
from lnexp.results.tables.snapshots_table import MEASURES, MODEL, OF_LAYERS, STATE_CHANGE
from lnexp.results.verifying.possible_snapshots import ROUNDING, are_due, impossible, may_lack_numbers, refuse
from lnexp.tasks import load_task
from lnexp.tasks.diagnosed import EARLY, MIDDLE

#: The columns of a whole model's rows.
OF_MODEL = ("train_loss", "sharpness")
#: How many attentions a layer has.
ATTENTIONS = {"encoder": 1, "decoder": 2}
#: The relative rounding of a share of a sum of squares.
OF_SHARES = 3 * ROUNDING
#: How far the mean over layers may exceed that over all matrices, which runs.csv states: layers have 6 matrices or 10,
#: which their rows do not tell apart, and a model has 5 others at most.
MORE_IN_LAYERS = 2.0
#: What runs.csv states of all matrices, the column that it is of, and which of a run's snapshots.
OF_ALL_MATRICES = {
    "max_relative_update": ("relative_update", "max"),
    "max_update_rms": ("update_rms", "max"),
    "min_update_rms": ("update_rms", "min"),
    "max_angular_update": ("angular_update", "max"),
    "last_angular_update": ("angular_update", "last"),
}


def refuse_other_snapshots(snapshots: pd.DataFrame, runs: Sequence[PublishedRun]) -> None:
    """Refuse a ``snapshots.csv`` that gives other numbers than runs state, or has rows or numbers that no run has.

    Raises:
        ValueError: for such a table.
    """
    given, rows = _given(snapshots).to_dict("index"), dict(list(snapshots.groupby("identity")))
    for run in runs:
        if (mine := rows.get(run.identity)) is not None:
            others = [] if are_due(mine["update"].unique(), run) else ["update"]
            wrong = [*others, *_denied(given[run.identity], run)]
            refuse("snapshots.csv gives other numbers than runs.csv states", run, wrong)
            refuse("snapshots.csv has other rows than a run has", run, _rows_missing(mine, run))
            refuse("snapshots.csv has numbers that no run has", run, impossible(mine, run))
            refuse("snapshots.csv lacks numbers of a run", run, _lacking(mine, run))


def _given(snapshots: pd.DataFrame) -> pd.DataFrame:
    """Return what the rows of each run give of columns of ``runs.csv``, by identity; NaN for what they do not."""
    layers, of_model = snapshots[snapshots["side"] != MODEL], snapshots[snapshots["side"] == MODEL]
    by_update = layers.groupby(["identity", "update"])
    means, by_run = by_update[list(MEASURES)].mean(), layers.groupby("identity")
    of_runs = means.groupby("identity")
    given = pd.DataFrame(
        {
            "max_attention_logit": by_run["attention_logit"].max(),
            "max_hidden_cosine": of_runs["hidden_cosine"].max(),
            "min_attention_entropy": _entropies(layers).groupby("identity").min(),
            "min_encoder_gradient_share": _shares(layers).groupby("identity").min(),
            **{name: of_runs[column].agg(which) for name, (column, which) in OF_ALL_MATRICES.items()},
        }
    )
    if "sharpness" in of_model:
        sharpness = of_model.groupby("identity")["sharpness"]
        found = {"first_sharpness": sharpness.first(), "max_sharpness": sharpness.max()}
        middle = of_model[of_model["update"].isin(MIDDLE)].groupby("identity")["sharpness"].agg(_geometric_mean)
        ended = of_model.groupby("identity")["update"].max() > MIDDLE[-1]
        given = given.assign(**found, last_sharpness=sharpness.last(), middle_sharpness=middle.where(ended))
    if STATE_CHANGE in layers:
        given = given.assign(**_changes(layers))
    return given


def _changes(layers: pd.DataFrame) -> dict[str, pd.Series]:
    """Return what runs.csv states of the changes of hidden states, by column and run."""
    last = layers.groupby(["identity", "side", "update"], as_index=False).last()  # the layers are in order
    firsts = last.groupby(["identity", "side"])[STATE_CHANGE].first()
    early = last[last["update"] <= EARLY]
    means = np.exp(np.log(early.set_index(["identity", "side"])[STATE_CHANGE]).groupby(level=[0, 1]).mean())
    return {
        "first_encoder_change": firsts.xs("encoder", level="side"),
        **{f"early_{side}_change": means.xs(side, level="side") for side in means.index.unique("side")},
    }


def _geometric_mean(values: "pd.Series[float]") -> float:
    """Return NaN where a value is missing or not positive."""
    return float(np.exp(np.log(values).mean())) if (values > 0).all() else math.nan


def _entropies(layers: pd.DataFrame) -> "pd.Series[float]":
    """Return the mean entropy of all attentions, by run and update."""
    known = layers.dropna(subset="attention_entropy")
    attentions = known["side"].map(ATTENTIONS).fillna(1)
    sums = known.assign(summed=known["attention_entropy"] * attentions, attentions=attentions)
    of_update = sums.groupby(["identity", "update"])[["summed", "attentions"]].sum()
    return of_update["summed"] / of_update["attentions"]


def _shares(layers: pd.DataFrame) -> "pd.Series[float]":
    """Return the share that the encoder's layers have of the gradient's squared norm, by run and update."""
    squares = layers.assign(square=layers["gradient_norm"] ** 2)
    total = squares.groupby(["identity", "update"])["square"].sum()
    encoder = squares[squares["side"] == "encoder"].groupby(["identity", "update"])["square"].sum()
    return encoder[encoder > 0] / total  # runs.csv has none of a snapshot without gradients on either side


def _denied(given: Mapping[Hashable, Any], run: PublishedRun) -> list[str]:
    """Return the columns of a run's row of ``runs.csv`` that state other numbers than its snapshots give."""
    stated = {str(name): (run.end[name], value) for name, value in given.items() if name in run.end}
    return [name for name, (said, value) in stated.items() if not _agrees(name, said, value, run)]


def _agrees(name: str, said: float, value: float, run: PublishedRun) -> bool:
    if name in OF_ALL_MATRICES:  # where all matrices have a number
        return may_lack_numbers(run) or not value > MORE_IN_LAYERS * said
    if name == "min_encoder_gradient_share":  # a decoder may have an output matrix, which is in no row
        return value >= said * (1 - OF_SHARES)
    if name == "min_attention_entropy" and may_lack_numbers(run):
        return True
    return math.isclose(value, said, rel_tol=ROUNDING, abs_tol=1e-6)


def _rows_missing(mine: pd.DataFrame, run: PublishedRun) -> list[str]:
    """Return ``layer`` where an update has not a row a layer of each side, and ``side`` where rows are of others or
    have numbers of others.
    """
    sides = load_task(run.job.recipe.task).sides
    there = {update: set(zip(rows["side"], rows["layer"], strict=True)) for update, rows in mine.groupby("update")}
    cells = set().union(*there.values())
    counts = {side: max((layer for of, layer in cells if of == side), default=0) for side in sides}
    counts |= {side: count for side in sides if (count := run.settings.get(f"model.{side}_layers")) is not None}
    every = {(side, layer) for side, count in counts.items() for layer in range(1, count + 1)}
    every |= {(MODEL, 0)} & cells  # which a run without a record of all updates does not have
    is_model = mine["side"] == MODEL
    columns = [name for name in OF_MODEL if name in mine]
    others = (mine.loc[is_model, _of_layers(mine)], mine.loc[~is_model, columns])
    mixed = any(numbers.notna().any(axis=None) for numbers in others)
    wrong = {
        "side": mixed or not {side for side, _ in cells} <= {*sides, MODEL},
        "layer": any(of_update != every for of_update in there.values()),
    }
    return [name for name, is_wrong in wrong.items() if is_wrong]


def _lacking(mine: pd.DataFrame, run: PublishedRun) -> list[str]:
    """Return the columns that have a number in some rows and none in others."""
    if may_lack_numbers(run):
        return []
    is_model = mine["side"] == MODEL
    of_rows = [(_of_layers(mine), mine[~is_model]), ([name for name in OF_MODEL if name in mine], mine[is_model])]
    return [name for names, rows in of_rows for name in names if 0 < rows[name].count() < len(rows)]


def _of_layers(mine: pd.DataFrame) -> list[str]:
    """Return the columns of a layer's rows."""
    return [name for name in OF_LAYERS if name in mine]
