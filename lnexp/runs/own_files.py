"""Tell the files that a run writes into its folder from what others put there, and delete those alone."""

import os
import re
import shutil
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from lnexp.errors import UserError
from lnexp.files import TEMPORARY
from lnexp.runs.saved_checkpoints import BEST, SAVED

#: Names of the files that a run writes, by the folder within its own; what has another name is not the run's.
FILES = {
    ".": re.compile(r"config\.yaml|metrics\.jsonl|(status|environment)\.json|train(\.rank[0-9]+)?\.log"),
    "checkpoints": re.compile(rf"{SAVED}(\.sha256|\.tmp)?|{re.escape(BEST)}"),
    "hypotheses": re.compile(r"(valid\.epoch[1-9][0-9]{0,8}|test(\.averaged)?)\.txt"),
}
#: What wandb writes into its folder.
OF_WANDB = re.compile(r"(offline-)?run-[0-9]{8}_[0-9]{6}-\w+|latest-run|debug(-\w+)?\.log")
#: Names of files that are written in place, to the end or over what is there; others are written beside and renamed.
IN_PLACE = re.compile(rf"metrics\.jsonl|train(\.rank[0-9]+)?\.log|{re.escape(BEST)}|.*\.tmp")


def refuse_others(folder: Path) -> None:
    """Refuse what has a name that the run writes to and is not of its own: a link to a folder, a folder in a file's
    place, a pipe, a link to a file.

    Raises:
        UserError: that names it.
    """
    for name in (*FILES, "wandb"):
        place = folder / name
        if os.path.lexists(place) and (place.is_symlink() or not place.is_dir()) and name != ".":
            raise UserError(f"{place}: not a folder of the run's own; remove it")
    for name, form in FILES.items():
        for path in (folder / name).glob("*"):
            lies_elsewhere = path.is_symlink() and IN_PLACE.fullmatch(path.name)
            if form.fullmatch(path.name) and (lies_elsewhere or not path.is_file()):
                raise UserError(f"{path}: not a regular file of the run's own; remove it")


def drop_half_written(folder: Path) -> None:
    """Delete the run's half-written files, as a kill or a full disk leaves them."""
    for path in [path for name in FILES for path in _written(folder, name)]:
        if path.name.startswith(".") or path.suffix == ".tmp":
            path.unlink(missing_ok=True)


def clear(folder: Path) -> None:
    """Delete what the run has written; what others have put into the folder stays."""
    for path in sorted(_written(folder, "."), key=lambda path: path.name != "status.json"):
        path.unlink()  # the status first, so that the rest cannot pass for a finished run
    for path in (folder / "wandb").glob("*"):
        if OF_WANDB.fullmatch(path.name):
            _remove(path)
    for place in (folder / name for name in ("checkpoints", "hypotheses", "wandb")):
        if place.is_symlink():
            place.unlink()
            continue
        for path in _written(folder, place.name) if place.name in FILES else ():
            path.unlink()
        with suppress(OSError):  # there is none, or others have put something into it
            place.rmdir()


def _written(folder: Path, name: str) -> Iterator[Path]:
    """Yield the files in the folder of this name that the run writes, half-written ones included."""
    for path in (folder / name).glob("*"):
        half_written = TEMPORARY.fullmatch(path.name)
        whole = half_written["name"] if half_written else path.name
        if FILES[name].fullmatch(whole) and (path.is_file() or path.is_symlink()):
            yield path


def _remove(path: Path) -> None:
    """Delete a folder with all that is in it, a link or a file."""
    shutil.rmtree(path) if path.is_dir() and not path.is_symlink() else path.unlink()
