"""The run that a person means."""

from pathlib import Path

from lnexp.errors import UserError, near_names
from lnexp.runs.folder import RunFolder, find_folders

#: More are not listed.
MOST_NAMED = 5


def find_run(word: str, runs_dir: Path) -> RunFolder:
    """The folder of a run.

    Args:
        word: its path, or the beginning of its identity, or a part of its name that no other run has.
        runs_dir: where else to look.

    Raises:
        UserError: where there is none, or more than one.
    """
    if (Path(word) / "metrics.jsonl").is_file() or (Path(word) / "status.json").is_file():
        return RunFolder(Path(word).resolve())
    folders = find_folders(runs_dir)
    found = [path for identity, path in folders.items() if identity.startswith(word) or word in path.name]
    if len(found) == 1:
        return RunFolder(found[0])
    if found:
        names = ", ".join(path.name for path in found[:MOST_NAMED])
        more = f" and {len(found) - MOST_NAMED} more" if len(found) > MOST_NAMED else ""
        raise UserError(f"{word}: {len(found)} runs are meant: {names}{more}; say the last eight letters of one")
    known = sorted(path.name for path in folders.values())
    raise UserError(f"{word}: no such run in {runs_dir}; {near_names(word, known) if known else 'it has none yet'}")
