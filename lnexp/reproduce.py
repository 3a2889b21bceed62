"""Recipes from nothing to verdicts: what ``make reproduce-iwslt`` does."""

import subprocess
import sys

from lnexp.configuration import ROOT
from lnexp.recipes import split_recipes


def choose_profile(overrides: list[str]) -> tuple[str, str]:
    """The profile to take, and why: what the user says, or else what the machine has."""
    said = [override.partition("=")[2] for override in overrides if override.startswith("profile=")]
    if said:
        return said[-1], "as you said"
    import torch

    if torch.cuda.is_available():
        return "paper", f"this machine has a GPU ({torch.cuda.get_device_name()}); PROFILE=small for the small one"
    return "small", "this machine has no GPU; PROFILE=paper needs one"


def main() -> None:
    """``reproduce.py +recipe=fig2a,fig4ab [overrides]``: train what is missing, then tables, figures and verdicts."""
    arguments = sys.argv[1:]
    profile, why = choose_profile(arguments)
    print(f"profile {profile}: {why}", flush=True)
    sweep = [*(word for word in arguments if not word.startswith("profile=")), f"profile={profile}"]
    launcher = [] if profile == "paper" else ["hydra/launcher=joblib"]
    settings = [word for word in sweep if not word.startswith("hydra")]
    # runs that fail are missing from the tables, and the exit code says so
    trained = _script("train", ["-m", *sweep, *launcher])
    collected = _script("collect", settings)
    recipes, _ = split_recipes(settings)
    for recipe in recipes:
        _script("verify", ["--recipe", recipe.name, "--profile", profile])
    sys.exit(trained or collected)


def _script(name: str, arguments: list[str]) -> int:
    command = [sys.executable, str(ROOT / "scripts" / f"{name}.py"), *arguments]
    return subprocess.run(command, check=False).returncode
