"""Find the run folders at places that people type, and those of a sweep."""

import os
from collections.abc import Sequence
from pathlib import Path

from lnexp.errors import UserError
from lnexp.runs.folder import find_folders
from lnexp.runs.sweep import sweep_by_title


def folders_of(places: Sequence[str], runs_dir: Path, here: Path = Path()) -> list[Path]:
    """Return the run folders at some places, each once: run folders, folders that have some, or patterns of these.

    Args:
        places: as ``runs/adhoc`` or ``runs/*/pre_ln-*``.
        runs_dir: where a pattern or path is looked for that has no runs relative to ``here``.
        here: the folder that places are relative to.

    Raises:
        UserError: for a place without runs.
    """
    found: dict[Path, None] = {}
    for place in places:
        there = _runs_at(here, place) or _runs_at(runs_dir, place)
        if not there:
            first = "here" if here == Path() else f"in {here}"
            raise UserError(f"{place}: no runs there, neither {first} nor in {runs_dir}")
        found |= dict.fromkeys(path.resolve() for path in there)
    return list(found)


def folders_of_sweep(title: str, runs_dir: Path) -> tuple[str, list[Path]]:
    """Return the whole title of a sweep and the folders of its runs, as far as there are some.

    Args:
        title: a part of it, or ``last``, see :func:`lnexp.runs.sweep.sweep_by_title`.
        runs_dir: where run folders lie.
    """
    folders, sweep = find_folders(runs_dir), sweep_by_title(title, runs_dir)
    return sweep.title, [folders[run.identity] for run in sweep.members if run.identity in folders]


def _runs_at(root: Path, place: str) -> list[Path]:
    return [run for path in _matching(root, place) for run in _runs_in(path)]


def _matching(root: Path, place: str) -> list[Path]:
    path = root / place
    if path.is_dir():
        return [path]
    where, pattern = (Path("/"), place.lstrip("/")) if Path(place).is_absolute() else (root, place)
    try:
        return sorted(where.glob(pattern))
    except ValueError as error:  # as of x**
        raise UserError(f"{place}: {error}") from error


def _runs_in(path: Path) -> list[Path]:
    """Return a folder that is a run's, or the runs in it at any depth; a config within one is a tracker's own."""
    found = []
    for folder, inside, files in os.walk(path):
        if "config.yaml" in files:
            found.append(Path(folder))
            inside.clear()
    return sorted(found)
