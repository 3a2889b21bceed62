"""Hold ``snapshots.csv`` and ``early.csv`` against what can be known of them: which rows a run has, what a number can
be, and what ``runs.csv`` states of the same snapshots.
"""

import math
from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import Any

import pandas as pd

from lnexp.results.evidence.published_evidence import PublishedRun
from lnexp.results.measures.early_numbers import UPDATES
from lnexp.results.tables.snapshots_table import DIGITS, MEASURES, MODEL
from lnexp.results.verifying.stated_by_settings import asked_by_command
from lnexp.runs.snapshot_updates import due_until
from lnexp.tasks import load_task

#: The least and the greatest value of a number, see ``lnexp/training/diagnostics``; others can be any. A cosine is a
#: mean over all pairs of positions, and so a square; an entropy of zero is rounded to either side.
BOUNDS = {
    "train_loss": (0.0, math.inf),
    "grad_norm": (0.0, math.inf),
    "hidden_state": (0.0, math.inf),
    "hidden_cosine": (0.0, 1.0),
    "attention_entropy": (-1e-6, math.inf),
    "gradient_norm": (0.0, math.inf),
    "relative_update": (0.0, math.inf),
    "angular_update": (0.0, math.pi),
    "update_rms": (0.0, math.inf),
    "encoder_gradient_share": (0.0, 1.0),
}
#: The columns of a whole model's rows.
OF_MODEL = ("train_loss", "sharpness")
#: How many attentions a layer has.
ATTENTIONS = {"encoder": 1, "decoder": 2}
#: The relative rounding of a number, and of a sum of squares' share.
ROUNDING = 10.0 ** (1 - DIGITS)
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


def refuse_other_snapshots(snapshots: pd.DataFrame, runs: Sequence[PublishedRun]) -> None:
    """Refuse a ``snapshots.csv`` that gives other numbers than runs state, or has rows or numbers that no run has.

    Raises:
        ValueError: for such a table.
    """
    given, rows = _given(snapshots).to_dict("index"), dict(list(snapshots.groupby("identity")))
    for run in runs:
        if (mine := rows.get(run.identity)) is not None:
            others = [] if _are_due(mine["update"].unique(), run) else ["update"]
            wrong = [*others, *_denied(given[run.identity], run)]
            _refuse("snapshots.csv gives other numbers than runs.csv states", run, wrong)
            _refuse("snapshots.csv has other rows than a run has", run, _rows_missing(mine, run))
            _refuse("snapshots.csv has numbers that no run has", run, _impossible(mine, run))
            _refuse("snapshots.csv lacks numbers of a run", run, _lacking(mine, run))


def refuse_other_early_numbers(early: pd.DataFrame, runs: Sequence[PublishedRun]) -> None:
    """Refuse an ``early.csv`` as :func:`refuse_other_snapshots` does. Raises ValueError for such a table."""
    rows = dict(list(early.groupby("identity")))
    for run in runs:
        if (mine := rows.get(run.identity)) is not None:
            due = _are_due(mine["update"], run, UPDATES)
            _refuse("early.csv has other rows than a run has", run, [] if due else ["update"])
            _refuse("early.csv gives other numbers than runs.csv states", run, _beyond(mine, run))
            _refuse("early.csv has numbers that no run has", run, _impossible(mine, run))


def _refuse(what: str, run: PublishedRun, wrong: Sequence[str]) -> None:
    if wrong:
        raise ValueError(f"{what}: {run.job.arm.name} seed {run.job.seed}: {', '.join(wrong)}")


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
        given = given.assign(**found, last_sharpness=sharpness.last())
    return given


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
        return _may_lack_numbers(run) or not value > MORE_IN_LAYERS * said
    if name == "min_encoder_gradient_share":  # a decoder may have an output matrix, which is in no row
        return value >= said * (1 - OF_SHARES)
    if name == "min_attention_entropy" and _may_lack_numbers(run):
        return True
    return math.isclose(value, said, rel_tol=ROUNDING, abs_tol=1e-6)


def _are_due(updates: Iterable[int], run: PublishedRun, among: Sequence[int] | None = None) -> bool:
    """Return whether rows are of the updates, in order, that the command of a run asks for, as far as the run goes.

    Args:
        updates: of the rows.
        run: whose they are. Of one that diverged it is not known at which update.
        among: the only updates that the table can have; None: all.
    """
    found, last = list(updates), run.epochs[-1]["update"] if run.epochs else 0
    end = max([last, *found]) if run.diverged else last
    if asked := asked_by_command(run).get("diagnostics.at"):
        return found == [update for update in due_until(asked, end) if among is None or update in among]
    whole = found == sorted(set(found)) and found[0] >= 1 and found[-1] <= end  # nothing says which
    return whole and (among is None or set(found) <= set(among))


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
    others = (mine.loc[is_model, list(MEASURES)], mine.loc[~is_model, columns])
    mixed = any(numbers.notna().any(axis=None) for numbers in others)
    wrong = {
        "side": mixed or not {side for side, _ in cells} <= {*sides, MODEL},
        "layer": any(of_update != every for of_update in there.values()),
    }
    return [name for name, is_wrong in wrong.items() if is_wrong]


def _lacking(mine: pd.DataFrame, run: PublishedRun) -> list[str]:
    """Return the columns that have a number in some rows and none in others."""
    if _may_lack_numbers(run):
        return []
    is_model = mine["side"] == MODEL
    of_rows = [(list(MEASURES), mine[~is_model]), ([name for name in OF_MODEL if name in mine], mine[is_model])]
    return [name for names, rows in of_rows for name in names if 0 < rows[name].count() < len(rows)]


def _may_lack_numbers(run: PublishedRun) -> bool:
    """Return whether single matrices or attentions of a run may have no finite number: it diverged, or is in half
    precision.
    """
    return run.diverged or run.settings.get("precision") != "fp32"


def _impossible(mine: pd.DataFrame, run: PublishedRun) -> list[str]:
    """Return the columns with a number beyond its bounds.

    A sentence has no more positions than a batch has tokens, and an update turns a matrix by no larger angle than one
    of its relative size can: at most by π times that. Numbers are rounded, some of them to beyond their bound.
    """
    bounds: Mapping[str, tuple[Any, Any]] = BOUNDS
    if tokens := run.settings.get("max_tokens"):
        bounds = {**BOUNDS, "attention_entropy": (BOUNDS["attention_entropy"][0], math.log(tokens))}
    rounded = {name: (least, most * (1 + ROUNDING)) for name, (least, most) in bounds.items()}
    wrong = [name for name in rounded if name in mine and not mine[name].dropna().between(*rounded[name]).all()]
    if {"angular_update", "relative_update"} <= set(mine) and not _may_lack_numbers(run):
        most = mine["relative_update"] * math.pi * (1 + ROUNDING)
        wrong += ["angular_update"] if (mine["angular_update"] > most).any() else []
    return list(dict.fromkeys(wrong))


def _beyond(mine: pd.DataFrame, run: PublishedRun) -> list[str]:
    """Return the columns of ``early.csv`` with a number beyond the least or the greatest of all snapshots of a run."""
    signs: list[tuple[Mapping[str, str], int]] = [(LEAST, -1), (GREATEST, 1)]
    found: list[Hashable] = [
        name
        for extremes, sign in signs
        for name, column in extremes.items()
        if name in mine and column in run.end
        if (sign * mine[name] > sign * run.end[column] + ALIKE * abs(run.end[column])).any()
    ]
    return list(dict.fromkeys(map(str, found)))
