"""The command behind ``scripts/train.py``: Hydra around :func:`lnexp.training.run.train_run`."""

import sys
from contextlib import nullcontext

import hydra
from hydra.core.hydra_config import HydraConfig
from hydra.types import RunMode
from omegaconf import DictConfig

from lnexp.cli import one_line_errors
from lnexp.configuration import CONFIG_DIR, register_resolvers, spell_out
from lnexp.errors import UserError
from lnexp.launchers import register_plugins


@hydra.main(config_path=str(CONFIG_DIR), config_name="train", version_base="1.3")
def _run(cfg: DictConfig) -> float | None:
    """Train; what a sweeper that searches for the best settings sees is the least validation nll."""
    register_resolvers()  # again: a launcher may call this in a process of its own
    from lnexp.training.run import train_run

    if "recipe" in cfg and "arm" not in cfg:
        raise UserError("+recipe=…: only hydra/sweeper=recipe sweeps recipes")
    # a sweep collects what its runs raise; for a single run Hydra would add lines of its own
    alone = HydraConfig.get().mode == RunMode.RUN
    with one_line_errors() if alone else nullcontext():
        return train_run(cfg, show_progress=alone and sys.stderr.isatty()).best_nll()


def main() -> None:
    """Run Hydra on the command line."""
    with one_line_errors():
        register_resolvers()
        register_plugins()
        sys.argv[1:] = [spell_out(argument) for argument in sys.argv[1:]]
        if not {"-m", "--multirun"} & set(sys.argv) and any(arg.startswith("+recipe=") for arg in sys.argv):
            raise UserError("+recipe=…: a recipe is a sweep of many runs; add -m")
        _run()
