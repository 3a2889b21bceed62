"""Run ``scripts/train.py``: Hydra with our launchers, around :func:`lnexp.training.run.train_run`."""

import gc
import os
import shutil
import sys
from collections.abc import Sequence
from contextlib import nullcontext
from typing import NoReturn

import hydra
from hydra._internal.utils import get_args_parser
from hydra.core.hydra_config import HydraConfig
from hydra.types import RunMode
from omegaconf import DictConfig, open_dict

from lnexp.cli import one_line_errors, refusal
from lnexp.configuration import check, compose, own_schemas, register_resolvers
from lnexp.errors import UserError
from lnexp.launchers import register_plugins
from lnexp.launchers.help import help_text
from lnexp.launchers.without_effect import without_effect
from lnexp.launchers.worker import set_up_worker
from lnexp.options import key_of
from lnexp.overrides import quote, spell_out
from lnexp.paths import CONFIG_DIR
from lnexp.processes import end_with_parent
from lnexp.recipes.jobs import Job
from lnexp.recipes.load import load_recipe, recipe_names
from lnexp.recipes.task_options import is_of_other_tasks
from lnexp.runs.identity import identity, label_of_overrides
from lnexp.runs.quiet import make_runs_quiet
from lnexp.tasks import DEFAULT
from lnexp.terminal import filled
from lnexp.training.ranks import of_environment

#: The environment variable that tells the processes of a launcher which one started the sweep.
FIRST_PROCESS = "LNEXP_FIRST_PROCESS"
#: The one that torchrun sets, also for one process.
OF_TORCHRUN = "TORCHELASTIC_RUN_ID"


@hydra.main(config_path=str(CONFIG_DIR), config_name="train", version_base="1.3")
def _run(cfg: DictConfig) -> float | None:
    """Train a run, and return its least validation nll, for sweepers that search for the best settings."""
    if os.environ.get(FIRST_PROCESS) != str(os.getpid()):  # a launcher called this in a process of its own
        set_up_worker()
    from lnexp.training.run import train_run, without_frames

    if "recipe" in cfg and "arm" not in cfg:
        raise UserError("+recipe=…: only hydra/sweeper=recipe sweeps recipes")
    # a sweep collects what its runs raise; for a single run Hydra would add lines of its own
    alone = HydraConfig.get().mode == RunMode.RUN
    said = list(HydraConfig.get().overrides.task)
    if alone and "arm" not in cfg and (label := label_of_overrides(said)):
        with open_dict(cfg):
            cfg.label = label
    with one_line_errors() if alone else nullcontext():
        if alone and of_environment().leads:
            check(cfg)  # a mistake is one line, without a warning before it
            if "recipe" in cfg and cfg.recipe in recipe_names():  # nobody knows where the file of another one is
                refuse_other_than_the_arm(cfg, said)
            for line in without_effect(said, [said], compose, with_recipe="recipe" in cfg):
                print(filled(line), flush=True)
        if alone:
            return train_run(cfg, show_progress=sys.stderr.isatty()).best_nll()
        try:
            return train_run(cfg).best_nll()
        except Exception as error:  # a launcher keeps it until the sweep ends
            raise without_frames(error) from None


def refuse_other_than_the_arm(cfg: DictConfig, said: Sequence[str]) -> None:
    """Refuse a single run that has the name of an arm and not its settings, which ``+arm=`` does not make.

    Raises:
        UserError: for that, and for a profile or an arm that the recipe lacks.
    """
    recipe = load_recipe(cfg.recipe)
    recipe.setting_at(cfg.profile)
    arm = recipe.arm_named(str(cfg.arm), "+arm")
    settings = Job(recipe, cfg.profile, arm, cfg.seed).settings
    stated = {key_of(override) for override in settings}
    others = [override for override in said if key_of(override) not in stated]
    if identity(compose([*others, *settings])) != identity(cfg):  # in the order of sweeps
        raise UserError(
            f"+arm={arm.name}: a name makes no settings, and these are not that arm's; say -m +recipe={recipe.name}"
            f" arms={arm.name}"
        )


#: Print also what single runs of a sweep do, epoch by epoch. Hydra has no such option.
VERBOSE = {"-v", "--verbose"}
#: Make a sweep of a command line; Hydra's.
SWEEP = {"-m", "--multirun"}


def _take_own_options(arguments: list[str]) -> list[str]:
    """Return the arguments that are Hydra's; without ``-v`` the runs of a sweep print nothing themselves."""
    if SWEEP & set(arguments) and not VERBOSE & set(arguments):
        make_runs_quiet()
    return [argument for argument in arguments if argument not in VERBOSE]


def _check_options(arguments: list[str]) -> None:
    """Refuse options that Hydra does not know, in one line. Raises UserError."""
    parser = get_args_parser()

    def refuse(message: str) -> NoReturn:
        raise UserError(refusal(parser, message))

    parser.error = refuse
    parser.parse_args(arguments)


def _check_command_line(arguments: list[str]) -> None:
    """Refuse a sweep under torchrun or for a cluster that is not here, and a recipe that is not swept.

    Raises:
        UserError: for each of these, and for an option that Hydra does not know.
    """

    def says(start: str) -> bool:
        return any(argument.startswith(start) for argument in arguments)

    _check_options(arguments)
    if says("hydra/launcher=submitit_slurm") and not shutil.which("srun"):
        raise UserError(
            "hydra/launcher=submitit_slurm: no srun here, as outside of a cluster; take submitit_local, joblib or array"
        )
    if SWEEP & set(arguments):
        if shown := [argument for argument in arguments if argument in ("--cfg", "-c", "--info", "-i")]:
            raise UserError(f"{shown[0]}: shows one config; leave out -m")
        if of_environment().size > 1:
            raise UserError("-m: torchrun starts the processes of one run; for a sweep say hydra/launcher=torchrun")
    elif says("+recipe=") and not says("+arm="):
        raise UserError("+recipe=…: a recipe is a sweep of many runs; add -m")


def _with_options_of_tasks(arguments: list[str]) -> list[str]:
    """Return the arguments with options that only some tasks have as one of the sweeper's, in a sweep of recipes.

    Recipes choose their tasks, and Hydra composes a config of its own before, of the default one.
    """
    if not SWEEP & set(arguments) or not any(argument.startswith("+recipe=") for argument in arguments):
        return arguments
    of_tasks = (argument for argument in arguments if "=" in argument and is_of_other_tasks(argument, DEFAULT))
    said = list(dict.fromkeys(of_tasks))
    if not said:
        return arguments
    # in the place of the first: Hydra takes no override apart from the others
    together = {said[0]: f"hydra.sweeper.of_tasks=[{','.join(map(quote, said))}]"}
    return [together.get(argument, argument) for argument in arguments if argument not in said[1:]]


def main() -> None:
    """Run Hydra on the command line, or print the options."""
    with one_line_errors():
        if {"-h", "--help"} & set(sys.argv[1:]):
            print(help_text(sys.argv[1:]))
            return
        os.environ[FIRST_PROCESS] = str(os.getpid())
        register_resolvers()
        register_plugins()
        sys.argv[1:] = spell_out(_take_own_options(sys.argv[1:]))
        _check_command_line(sys.argv[1:])
        sys.argv[1:] = _with_options_of_tasks(sys.argv[1:])
        if OF_TORCHRUN in os.environ or of_environment().size > 1:
            end_with_parent()
        with own_schemas():
            _run()
        gc.freeze()  # the interpreter's last search for garbage would take a second
