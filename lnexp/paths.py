"""Locate the project's own folders."""

from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
CONFIG_DIR = ROOT / "configs"
RECIPES_DIR = ROOT / "recipes"

#: The folder, among those of recipes, of runs that are of no recipe.
ADHOC = "adhoc"
#: Where run folders lie unless a command is told otherwise.
RUNS_DIR = Path("runs")
#: The published results, which are committed; like run folders they are looked for where a command is run.
RESULTS_DIR = Path("results")
#: What a user's own commands write instead; git ignores it.
LOCAL_RESULTS_DIR = RESULTS_DIR / "local"


def files_of_group(group: str) -> list[str]:
    """Return the files of a group of configs that can be chosen, by name; none for what is no group.

    Those that begin with ``_`` are parts of others.
    """
    return sorted(path.stem for path in (CONFIG_DIR / group).glob("[!_]*.yaml"))


def is_published(results_dir: Path) -> bool:
    """Return whether a root of results is that of the published ones."""
    return results_dir.resolve() == RESULTS_DIR.resolve()
