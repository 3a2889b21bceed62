"""Say which snapshots a run has, by its command, and which numbers of a snapshot are impossible."""

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from lnexp.results.evidence.published_evidence import PublishedRun
from lnexp.results.tables.snapshots_table import DIGITS
from lnexp.results.verifying.stated_by_settings import asked_by_command
from lnexp.runs.snapshot_updates import due_until

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
    "state_change": (0.0, math.inf),
}
#: The relative rounding of a number in a snapshot.
ROUNDING = 10.0 ** (1 - DIGITS)


def are_due(updates: Iterable[int], run: PublishedRun, among: Sequence[int] | None = None) -> bool:
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


def may_lack_numbers(run: PublishedRun) -> bool:
    """Return whether single matrices or attentions of a run may have no finite number: it diverged, or is in half
    precision.
    """
    return run.diverged or run.settings.get("precision") != "fp32"


def impossible(mine: pd.DataFrame, run: PublishedRun) -> list[str]:
    """Return the columns with a number beyond its bounds.

    A sentence has no more positions than a batch has tokens, and an update turns a matrix by no larger angle than one
    of its relative size can: at most by π times that. Numbers are rounded, some of them to beyond their bound.
    """
    bounds: Mapping[str, tuple[Any, Any]] = BOUNDS
    if tokens := run.settings.get("max_tokens"):
        bounds = {**BOUNDS, "attention_entropy": (BOUNDS["attention_entropy"][0], math.log(tokens))}
    given = {str(name): mine[name].to_numpy() for name in mine if name in bounds}  # of a run: too few rows for pandas
    rounded = {name: (least, most * (1 + ROUNDING)) for name, (least, most) in bounds.items()}
    wrong = [name for name in rounded if name in given and _beyond(given[name], *rounded[name])]
    if {"angular_update", "relative_update"} <= given.keys() and not may_lack_numbers(run):
        most = given["relative_update"] * math.pi * (1 + ROUNDING)
        wrong += ["angular_update"] if _beyond(given["angular_update"], 0.0, most) else []
    return list(dict.fromkeys(wrong))


def _beyond(values: np.ndarray, least: float, most: float | np.ndarray) -> bool:
    """Return whether a number is beyond its bounds; what is missing is not."""
    return bool(((values < least) | (values > most)).any())


def refuse(what: str, run: PublishedRun, wrong: Sequence[str]) -> None:
    """Raise ValueError where a table has wrong columns of a run: what is wrong, of which run, and the columns."""
    if wrong:
        raise ValueError(f"{what}: {run.job.arm.name} seed {run.job.seed}: {', '.join(wrong)}")
