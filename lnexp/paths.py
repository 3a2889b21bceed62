"""Locate the project's own folders."""

from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
CONFIG_DIR = ROOT / "configs"
RECIPES_DIR = ROOT / "recipes"

#: The folder, among those of recipes, of runs that are of no recipe.
ADHOC = "adhoc"
#: The published results, which are committed; like run folders they are looked for where a command is run.
RESULTS_DIR = Path("results")
#: What a user's own commands write instead; git ignores it.
LOCAL_RESULTS_DIR = RESULTS_DIR / "local"
