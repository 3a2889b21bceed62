"""Tell the files that a run writes into its folder from what others put there, and delete or move those alone."""

import os
import re
import shutil
import uuid
from collections.abc import Iterable, Iterator
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
#: Folders that a run makes within its own.
PLACES = ("checkpoints", "hypotheses", "wandb")
#: What wandb writes into its folder.
OF_WANDB = re.compile(r"(offline-)?run-[0-9]{8}_[0-9]{6}-\w+|latest-run|debug(-\w+)?\.log")
#: Folders within a run's own: what it had until it has begun again, and what is on the way there or back.
EARLIER, MOVING = ".earlier", ".earlier.moving"
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
    for path in _all_written(folder):
        _remove(path)
    _drop_empty(folder)


def set_aside(folder: Path) -> None:
    """Move what the run has written to where :func:`bring_back` finds it: all of it, or nothing. What is there already
    stays, as where the run was to begin again before and did not: what was written since is deleted.

    Raises:
        UserError: where something else has the name of that folder.
        OSError: where it cannot be moved; nothing is, then.
    """
    for name in (EARLIER, MOVING):
        if os.path.lexists(folder / name) and not _is_own_folder(folder / name):
            raise UserError(f"{folder / name}: not a folder of the run's own; remove it")
    _finish_moving(folder)
    if _is_own_folder(folder / EARLIER):
        clear(folder)
        return
    try:
        _move(_all_written(folder), folder, folder / MOVING)
    except OSError:
        _finish_moving(folder)
        raise
    if _is_own_folder(folder / MOVING):
        (folder / MOVING).rename(folder / EARLIER)
    _drop_empty(folder)


def bring_back(folder: Path) -> None:
    """Bring back what :func:`set_aside` has moved, if anything, in place of what the run has written since. Lines that
    its logs have got since stay at their end.
    """
    _finish_moving(folder)
    if not is_set_aside(folder):
        return
    logs = {path.name: path.read_bytes() for path in _written(folder, ".") if path.suffix == ".log"}
    clear(folder)
    (folder / EARLIER).rename(folder / MOVING)  # so that a kill from here on has nothing deleted
    _finish_moving(folder)
    for name, lines in logs.items():
        with (folder / name).open("ab") as log:
            log.write(lines)


def is_set_aside(folder: Path) -> bool:
    """Return whether :func:`set_aside` has moved what the run has written, and the run has not begun since."""
    return _is_own_folder(folder / EARLIER) or _is_own_folder(folder / MOVING)


def forget_earlier(folder: Path) -> None:
    """Delete what :func:`set_aside` has moved, if anything."""
    if _is_own_folder(folder / EARLIER):
        # by another name first, for a part of it may stay, as where another program reads a file of it
        gone = folder / f".gone.{uuid.uuid4().hex}"
        (folder / EARLIER).rename(gone)
        shutil.rmtree(gone, ignore_errors=True)


def _finish_moving(folder: Path) -> None:
    """Move back what a kill, or a full disk, has left between its two places."""
    moving = folder / MOVING
    if _is_own_folder(moving):
        _move(reversed(_all_written(moving)), moving, folder)
        shutil.rmtree(moving)


def _is_own_folder(path: Path) -> bool:
    return path.is_dir() and not path.is_symlink()


def _move(paths: Iterable[Path], source: Path, target: Path) -> None:
    for path in paths:
        place = target / path.relative_to(source)
        place.parent.mkdir(parents=True, exist_ok=True)
        path.rename(place)


def _drop_empty(folder: Path) -> None:
    """Delete the run's folders within its own that are empty."""
    for place in (folder / name for name in PLACES):
        with suppress(OSError):  # there is none, or others have put something into it
            place.rmdir()


def _all_written(folder: Path) -> list[Path]:
    """Return what the run has written, of folders that are links these; the status first, so that, of files that are
    deleted one after another, the rest cannot pass for a finished run.
    """
    found = sorted(_written(folder, "."), key=lambda path: path.name != "status.json")
    for place in (folder / name for name in PLACES):
        if place.is_symlink():
            found.append(place)
        elif place.name in FILES:
            found += _written(folder, place.name)
        else:
            found += [path for path in place.glob("*") if OF_WANDB.fullmatch(path.name)]
    return found


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
