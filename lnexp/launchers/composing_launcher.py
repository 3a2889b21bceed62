"""Compose the configs of the jobs that a launcher is given."""

from collections.abc import Sequence

from hydra.plugins.launcher import Launcher
from hydra.types import HydraContext, TaskFunction
from omegaconf import DictConfig

from lnexp.composer import Composer


class ComposingLauncher(Launcher):
    """A launcher that knows the configs of the jobs it is given; a subclass trains them in :meth:`launch`."""

    def setup(self, *, hydra_context: HydraContext, task_function: TaskFunction, config: DictConfig) -> None:
        """Take over the config of the sweep from Hydra."""
        loader = hydra_context.config_loader
        self._composer = Composer(lambda overrides: loader.load_sweep_config(config, overrides))

    def share(self, composer: Composer) -> None:
        """Compose with the sweep's own composer, which has composed these jobs already."""
        self._composer = composer

    def compose(self, job_overrides: Sequence[Sequence[str]]) -> list[DictConfig]:
        """Return the config of each job."""
        return [self._composer.compose(list(overrides)) for overrides in job_overrides]
