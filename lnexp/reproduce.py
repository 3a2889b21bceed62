"""Reproduce recipes: train what is missing, then make tables, figures and verdicts."""

import subprocess
import sys

from lnexp.cli import one_line_errors, overrides_of_the_command_line
from lnexp.configuration import check, check_device, compose
from lnexp.paths import ROOT
from lnexp.recipes.command_line import split_recipes, with_corpus
from lnexp.recipes.recipe import Recipe, jobs_of
from lnexp.training.shares import fitting


def choose_profile(overrides: list[str]) -> tuple[str, str]:
    """Return the profile and the reason for it: the user's, or else the one that fits the machine."""
    said = [override.partition("=")[2] for override in overrides if override.startswith("profile=")]
    if said:
        return said[-1], "as you said"
    import torch

    if torch.cuda.is_available():
        return "paper", f"this machine has a GPU ({torch.cuda.get_device_name()}); PROFILE=small for the small one"
    return "small", "this machine has no GPU; PROFILE=paper needs one"


def main() -> None:
    """``reproduce.py +recipe=fig2a,fig4ab [overrides]``: train what is missing, then tables, figures and verdicts.

    At profile ``paper``, which takes long, the cost is printed first.
    """
    with one_line_errors():
        arguments = overrides_of_the_command_line(
            "Train what recipes ask for, then make their tables, figures and verdicts.",
            "python scripts/reproduce.py +recipe=fig2a,fig4ab profile=small data=toy",
        )
        recipes, settings = split_recipes([word for word in arguments if not word.startswith("hydra")])
        profile, why = choose_profile(settings)
        chosen = [f"+recipe={','.join(recipe.name for recipe in recipes)}", *settings]
        if f"profile={profile}" not in chosen:
            chosen.append(f"profile={profile}")
        configs = [compose(with_corpus(recipe, profile, chosen[1:])) for recipe in recipes]
        for cfg in configs:
            check(cfg)
            check_device(cfg)
        corpora = [str(cfg.data.name) for cfg in configs]
        print(f"profile {profile}, data {', '.join(dict.fromkeys(corpora))}: {why}", flush=True)
        launcher = [word for word in arguments if word.startswith("hydra")] or default_launcher(profile)
        if profile == "paper":
            _script("plan", ["device=cuda", f"gpus={processes(recipes, profile, chosen[1:], launcher)}", *chosen])
        # a run that fails is missing from the tables, and the exit code says so
        codes = [_script("train", ["-m", *chosen, *launcher]), _script("collect", chosen)]
        for recipe, corpus in zip(recipes, corpora, strict=True):
            codes.append(_script("verify", ["--recipe", recipe.name, "--profile", profile, "--data", corpus]))
        sys.exit(max(codes))


def default_launcher(profile: str) -> list[str]:
    """Return the overrides of the launcher: a run on each core, or large runs one after another on all GPUs."""
    if profile != "paper":
        return ["hydra/launcher=joblib"]
    import torch

    return ["hydra/launcher=torchrun"] if torch.cuda.device_count() > 1 else []


def processes(recipes: list[Recipe], profile: str, settings: list[str], launcher: list[str]) -> int:
    """Return how many processes ``launcher`` gives each run; where the recipes differ, the fewest."""
    if "hydra/launcher=torchrun" not in launcher:
        return 1
    import torch

    said = [word.partition("=")[2] for word in launcher if word.startswith("hydra.launcher.processes=")]
    if said and said[-1].isdigit():  # the launcher refuses anything else but null
        return int(said[-1])
    shared = [update_freq(recipe, profile, settings) for recipe in recipes]
    return min(fitting(batches, torch.cuda.device_count()) for batches in shared)


def update_freq(recipe: Recipe, profile: str, settings: list[str]) -> int:
    """Return how many batches an update of a recipe's runs has."""
    corpus = with_corpus(recipe, profile, settings)
    job, *_ = jobs_of(recipe, compose(corpus))
    return compose([*corpus, *job.overrides]).update_freq


def _script(name: str, arguments: list[str]) -> int:
    command = [sys.executable, str(ROOT / "scripts" / f"{name}.py"), *arguments]
    return subprocess.run(command, check=False).returncode
