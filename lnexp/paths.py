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


def is_published(results_dir: Path) -> bool:
    """Return whether a root of results is that of the published ones."""
    return results_dir.resolve() == RESULTS_DIR.resolve()
