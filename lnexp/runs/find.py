"""Find a run by its path, or by a part of its name or identity."""

from pathlib import Path

from lnexp.errors import UserError, near_names
from lnexp.printable import first_few
from lnexp.runs.folder import RunFolder, find_folders

#: Runs that an error message lists, at most.
MOST_NAMED = 5


def find_run(word: str, runs_dir: Path) -> RunFolder:
    """Return the folder of a run.

    Args:
        word: its path, the beginning of its identity, or a part of its name that no other run has.
        runs_dir: where runs are looked for.

    Raises:
        UserError: where no run matches, or more than one.
    """
    if (Path(word) / "metrics.jsonl").is_file() or (Path(word) / "status.json").is_file():
        return RunFolder(Path(word).resolve())
    folders = find_folders(runs_dir)
    found = [path for identity, path in folders.items() if identity.startswith(word) or word in path.name]
    if len(found) == 1:
        return RunFolder(found[0])
    if found:
        names = first_few([path.name for path in found], MOST_NAMED)
        raise UserError(f"{word}: {len(found)} runs match: {names}; give the last eight letters of one")
    known = sorted(path.name for path in folders.values())
    raise UserError(f"{word}: no such run in {runs_dir}; {near_names(word, known) if known else 'it has none yet'}")
