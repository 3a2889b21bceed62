"""Compose, train, load, draw and judge runs from Python: what ``import lnexp`` gives, see docs/python.md.

Relative paths are relative to the project's folder, wherever Python runs. What a user can do wrong raises
:class:`lnexp.errors.UserError`, whose text is one line.
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from omegaconf import DictConfig

from lnexp.cli import describe, is_a_mistake
from lnexp.errors import UserError
from lnexp.options import key_of
from lnexp.overrides import from_folder
from lnexp.paths import RESULTS_DIR, ROOT

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

    from lnexp.results.evidence.run_result import RunResult

__all__ = ["UserError", "compose", "load_runs", "plot", "train", "verdicts"]

#: Options whose defaults are folders, and these folders in the project.
FOLDERS = {"runs_dir": "runs", "data_dir": "data"}


@contextmanager
def _user_errors() -> Iterator[None]:
    """Raise as UserError, with the line that the commands print, what is wrong with the input or the machine."""
    try:
        yield
    except UserError:
        raise
    except Exception as error:
        if not is_a_mistake(error):
            raise
        raise UserError(describe(error)) from error


def compose(*overrides: str) -> DictConfig:
    """Return the config of a run, checked; its values are read as attributes: ``compose("model=pre_ln").lr_max``.

    Args:
        overrides: as ``scripts/train.py`` takes them. A path is relative to the project's folder.

    Raises:
        UserError: for an unknown option, or a value that cannot be meant.
    """
    from lnexp import configuration

    with _user_errors():
        if any(key_of(override) == "recipe" for override in overrides):
            raise UserError("a recipe is many runs and has no config of its own; train() takes it")
        cfg = configuration.compose(_with_folders(overrides))
        configuration.check(cfg)
        return cfg


def train(*overrides: str) -> list[Path]:
    """Train a run, a sweep or a recipe as ``scripts/train.py`` does, in a process of its own; print what it prints.

    That process makes the numbers independent of what this one has imported, seeded or set. Finished runs are
    skipped, interrupted ones resumed.

    Args:
        overrides: as ``scripts/train.py`` takes them; a sweep, as ``model=post_ln,pre_ln``, and ``+recipe=fig2a`` need
            no ``-m``. A path is relative to the project's folder.

    Returns:
        The folders of all runs asked for, each once, in the order of the sweep.

    Raises:
        UserError: as :func:`compose` does, and where a run failed.
    """
    from lnexp.launchers.own_process import train_in_own_process

    with _user_errors():
        return train_in_own_process(_with_folders(overrides))


def load_runs(*places: str | Path, epochs: bool = False) -> "pd.DataFrame":
    """Return a table of runs, of recipes and others: a row a run, or a row an epoch. docs/python.md names the columns.

    A run whose config cannot be read is left out, with a warning; one whose records cannot be read has the status
    ``malformed``.

    Args:
        places: run folders, folders that contain some at any depth, or patterns as ``runs/*/pre_ln-*``, relative to
            the project's folder or to its ``runs``; none: all of ``runs``.
        epochs: whether a row is an epoch.

    Raises:
        UserError: for a place without runs, or runs of several tasks.
    """
    from lnexp.results.tables.frames import epoch_frame, run_frame

    with _user_errors():
        runs = _runs_of(places)
        return epoch_frame(runs) if epochs else run_frame(runs)


def plot(*places: str | Path) -> "Figure":
    """Return the curves of runs that are over: loss, score and learning rate by epoch, a line for each setting.

    Lines are means over seeds, bands reach from the least to the greatest. ``savefig`` of the figure writes it.

    Args:
        places: as those of :func:`load_runs`.

    Raises:
        UserError: as :func:`load_runs` does, and where no run is over.
    """
    from lnexp.figures.draw import figure_of
    from lnexp.results.writing.run_set import curves_of

    with _user_errors():
        drawing = curves_of(_runs_of(places))
        if drawing is None:
            raise UserError("no epoch to draw: none of these runs is over")
        return figure_of(drawing)


def verdicts(results: str | Path = RESULTS_DIR) -> "pd.DataFrame":
    """Return a table with a row a claim of every recipe that was collected; docs/python.md names the columns.

    Args:
        results: where results lie, relative to the project's folder: ``results``, the published ones, or
            ``results/local``, one's own.

    Raises:
        UserError: where there are none, or they are malformed.
    """
    from lnexp.results.judging.verdicts import all_verdicts
    from lnexp.results.tables.frames import verdict_frame

    with _user_errors():
        found = all_verdicts(_in_project(results))
        if not found:
            raise UserError(f"{results}: no results there; scripts/collect.py makes them")
        return verdict_frame(found)


def _runs_of(places: tuple[str | Path, ...]) -> "list[RunResult]":
    """Return the runs at places, and warn of those that are left out."""
    import warnings

    from lnexp.results.writing.run_set import results_of
    from lnexp.runs.places import folders_of

    said = [os.path.expanduser(place) for place in places or (FOLDERS["runs_dir"],)]
    runs, left_out = results_of(folders_of(said, ROOT / FOLDERS["runs_dir"], here=ROOT), " ".join(said))
    for problem in left_out:
        warnings.warn(f"left out: {problem}", stacklevel=3)
    return runs


def _with_folders(overrides: tuple[str, ...]) -> list[str]:
    """Return overrides with the project's folders as the defaults, and with paths that are relative to it."""
    said = {key_of(override) for override in overrides}
    defaults = [f"{key}={folder}" for key, folder in FOLDERS.items() if key not in said]
    return [from_folder(override, ROOT) for override in (*defaults, *overrides)]


def _in_project(path: str | Path) -> Path:
    return ROOT / os.path.expanduser(path)
