"""Reproduce recipes: train what is missing, then make tables, figures and verdicts."""

import os
import subprocess
import sys
from dataclasses import dataclass, field

from omegaconf import DictConfig

from lnexp.cli import one_line_errors, overrides_parser
from lnexp.configuration import check, check_device, compose
from lnexp.errors import UserError
from lnexp.launchers.follow import Follower
from lnexp.options import is_of_hydra
from lnexp.options.override import values_said
from lnexp.overrides import quote
from lnexp.paths import LOCAL_RESULTS_DIR, ROOT
from lnexp.processes import available_cores as cores
from lnexp.recipes.command_line import check_overrides, shared_overrides, split_recipes
from lnexp.recipes.jobs import THEORY, jobs_of
from lnexp.recipes.recipe import Recipe
from lnexp.runs.code import may_train_again
from lnexp.terminal import filled
from lnexp.training.shares import fitting

#: Runs of an array on a CPU. Two seeds of fig2a, 8 runs on two cores, took 201 s in arrays of 4 and 281 s one by one;
#: larger arrays are little faster, and leave cores without work at the end of a sweep.
MEMBERS = 4


def choose_profile(recipes: list[Recipe], overrides: list[str]) -> tuple[str, str]:
    """Return the profile and the reason for it: the user's, the only one that recipes share, or the machine's."""
    said = values_said(overrides, "profile")
    if said:
        return said[-1], "as you said"
    shared = set.intersection(*(set(recipe.profiles) for recipe in recipes)) - {THEORY}
    if len(shared) == 1:
        return shared.pop(), f"the only profile that {'these recipes share' if recipes[1:] else 'the recipe has'}"
    import torch

    if not torch.cuda.is_available():
        return "small", "this machine has no GPU; PROFILE=paper needs one"
    if "paper" not in shared:
        return "small", "these recipes share no profile paper"
    return "paper", f"this machine has a GPU ({torch.cuda.get_device_name()}); PROFILE=small for the small one"


def main() -> None:
    """``reproduce.py +recipe=fig2a,fig4ab [overrides]``: train what is missing, then tables, figures and verdicts.

    The results of a recipe are made as soon as its runs are over, while others are trained. At profile ``paper``, which
    takes long, the cost is printed first. With ``-v`` runs print a line for each epoch.
    """
    with one_line_errors():
        parser = overrides_parser(
            "Train what recipes ask for, then make their tables, figures and verdicts.",
            "python scripts/reproduce.py +recipe=fig2a,fig4ab profile=small",
        )
        parser.add_argument("-v", "--verbose", action="store_true", help="also print a line for each epoch of a run")
        said = parser.parse_intermixed_args()
        hydra = [word for word in said.overrides if is_of_hydra(word)]
        recipes, settings = split_recipes([word for word in said.overrides if word not in hydra])
        if not recipes:
            raise UserError("which recipe? say +recipe=NAME")
        profile, why = choose_profile(recipes, settings)
        if f"profile={profile}" not in settings:
            settings.append(f"profile={profile}")
        check_overrides(recipes, settings)
        here = "hydra/launcher=submitit_slurm" not in hydra
        configs = _checked_configs(recipes, profile, settings, here)
        launcher = launcher_of(hydra, profile, str(next(iter(configs.values())).device))
        corpora = {name: str(cfg.data.name) for name, cfg in configs.items()}
        print(filled(f"profile {profile}, data {', '.join(dict.fromkeys(corpora.values()))}: {why}"), flush=True)
        references = {recipe.name: recipe.reference for recipe in recipes}
        chosen = [f"+recipe={','.join(map(_in_hydra, references.values()))}", *settings]
        if profile == "paper" and here:
            _script("plan", ["device=cuda", f"gpus={processes(recipes, profile, settings, launcher)}", *chosen])
        train = [*_command("train"), "-m", *(["-v"] if said.verbose else []), *chosen, *launcher]
        sys.exit(_follow(train, Results(profile, corpora, references, settings), next(iter(configs.values()))))


def _checked_configs(recipes: list[Recipe], profile: str, settings: list[str], here: bool) -> dict[str, DictConfig]:
    """Return the config that the runs of each recipe share, by its name. Raises UserError for one that cannot be."""
    configs = {}
    for recipe in recipes:
        cfg = configs[recipe.name] = compose(shared_overrides(recipe, profile, settings))
        check(cfg)
        if here:
            check_device(cfg)
        jobs_of(recipe, cfg)  # refuses arms that it does not have
    return configs


def _follow(train: list[str], results: "Results", cfg: DictConfig) -> int:
    """Train, make results on the way, show them, and return an exit code."""
    follower = Follower(list(results.corpora), cfg.runs_dir, results.make, early=not may_train_again(cfg))
    results.codes.append(follower.follow(train, dict(os.environ)))
    if results.codes[-1] and not follower.began:
        return results.codes[-1]
    results.show_all()
    # a run that fails is missing from the tables, and the exit code says so; a killed process has a negative one
    return max(map(abs, results.codes))


def _in_hydra(reference: str) -> str:
    """Return what an override takes for a recipe: its name, or the path of its file, which may have any letters."""
    return quote(reference) if reference.endswith((".yaml", ".yml")) else reference


@dataclass
class Results:
    """Tables, figures and verdicts of recipes, in the folder of local results.

    Attributes:
        profile: of all of them.
        corpora: the name of each recipe's corpus.
        references: what commands take for each recipe.
        settings: the other options of the command line.
        codes: the exit codes of what was done.
    """

    profile: str
    corpora: dict[str, str]
    references: dict[str, str]
    settings: list[str]
    codes: list[int] = field(default_factory=list)

    def make(self, recipe: str) -> None:
        """Make the results of a recipe."""
        said = _in_hydra(self.references[recipe])
        self.codes.append(_script("collect", ["--no-comparison", f"+recipe={said}", *self.settings]))

    def show_all(self) -> None:
        """Print what came out, over all recipes."""
        corpora = dict.fromkeys(self.corpora.values())
        place = {"recipe": self.references.values(), "profile": [self.profile], "data": corpora}
        words = [word for option, names in place.items() for word in (f"--{option}", ",".join(names))]
        self.codes.append(_script("verify", [*words, "--results", str(LOCAL_RESULTS_DIR)]))


def launcher_of(said: list[str], profile: str, device: str) -> list[str]:
    """Return the options of Hydra: those that are said, after the default launcher's where they choose none."""
    chosen = any(word.startswith("hydra/launcher=") for word in said)
    return said if chosen else [*default_launcher(profile, device), *said]


def default_launcher(profile: str, device: str) -> list[str]:
    """Return the overrides of the launcher: an array on each core or, one after another, on a GPU; or large runs one
    after another on all GPUs.

    Args:
        profile: of the runs.
        device: ``cpu``, ``cuda`` or ``auto``, as the runs have it.
    """
    import torch

    if profile != "paper":
        on_gpu = device != "cpu" and torch.cuda.is_available()
        settings = {"max_members": MEMBERS, "processes": 1 if on_gpu else cores(), "warn": "false"}  # not asked for
        return ["hydra/launcher=array", *(f"hydra.launcher.{key}={value}" for key, value in settings.items())]
    return ["hydra/launcher=torchrun"] if torch.cuda.device_count() > 1 else []


def processes(recipes: list[Recipe], profile: str, settings: list[str], launcher: list[str]) -> int:
    """Return how many processes ``launcher`` gives each run; where the recipes differ, the fewest."""
    if "hydra/launcher=torchrun" not in launcher:
        return 1
    import torch

    said = values_said(launcher, "hydra.launcher.processes")
    if said and said[-1].isdecimal():  # the launcher refuses anything else but null
        return int(said[-1])
    shared = [update_freq(recipe, profile, settings) for recipe in recipes]
    return min(fitting(batches, torch.cuda.device_count()) for batches in shared)


def update_freq(recipe: Recipe, profile: str, settings: list[str]) -> int:
    """Return how many batches an update of a recipe's runs has."""
    shared = shared_overrides(recipe, profile, settings)
    job, *_ = jobs_of(recipe, compose(shared))
    return compose([*shared, *job.overrides]).update_freq


def _script(name: str, arguments: list[str]) -> int:
    return subprocess.run([*_command(name), *arguments], check=False).returncode


def _command(script: str) -> list[str]:
    return [sys.executable, str(ROOT / "scripts" / f"{script}.py")]
