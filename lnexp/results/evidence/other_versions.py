"""Find the runs of a recipe that are not collected because they are of another version of the numerics."""

from collections import Counter
from pathlib import Path

from lnexp.errors import UserError
from lnexp.numerics import numerics_of
from lnexp.results.evidence.run_result import RunResult
from lnexp.runs.folder import RunFolder, find_folders


def other_versions(runs: list[RunResult], numerics: int) -> list[str]:
    """Return a line for each other version that folders of the recipe are of; none where no run is missing.

    A line is as ``80 runs here are of version 2 of the numerics; see --numerics=2``.

    Args:
        runs: all runs of a recipe.
        numerics: the version that they are of.
    """
    if all(run.path for run in runs):
        return []
    cfg, recipe = runs[0].cfg, runs[0].job.recipe.name
    folders = [path for path in find_folders(cfg.runs_dir).values() if path.parent.name == recipe]
    found = Counter(filter(None, map(_version, folders)))
    return [
        f"{count} run{'s here are' if count > 1 else ' here is'} of version {version} of the numerics;"
        f" see --numerics={version}"
        for version, count in sorted(found.items())
        if version != numerics
    ]


def _version(path: Path) -> int | None:
    """Return the version that a run's folder is of; None where nothing says it."""
    try:
        environment = RunFolder(path).environment
    except (UserError, OSError):
        return None
    return numerics_of(environment) if environment else None
