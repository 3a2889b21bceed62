"""What launchers of ours have in common: they compose the config of a job as Hydra would."""

from collections.abc import Sequence

from hydra.plugins.launcher import Launcher
from hydra.types import HydraContext, TaskFunction
from omegaconf import DictConfig

from lnexp.composer import Composer


class ComposingLauncher(Launcher):
    """Knows the configs of the jobs that it is given; a subclass trains them in :meth:`launch`."""

    def setup(self, *, hydra_context: HydraContext, task_function: TaskFunction, config: DictConfig) -> None:
        loader = hydra_context.config_loader
        self._composer = Composer(lambda overrides: loader.load_sweep_config(config, overrides))

    def compose(self, job_overrides: Sequence[Sequence[str]]) -> list[DictConfig]:
        """The config of each job."""
        return [self._composer.compose(list(overrides)) for overrides in job_overrides]
