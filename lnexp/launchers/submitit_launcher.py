"""Submit the runs of a sweep as jobs: ``hydra/launcher=submitit_slurm`` and ``submitit_local``."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from hydra.core.singleton import Singleton
from hydra.core.utils import JobReturn, JobStatus
from hydra_plugins.hydra_submitit_launcher.config import BaseQueueConf
from hydra_plugins.hydra_submitit_launcher.submitit_launcher import BaseSubmititLauncher
from omegaconf import OmegaConf

from lnexp.launchers.retry import LostJobError

#: What an executor is made with; with the rest its jobs are.
OF_EXECUTOR = {"max_num_timeout"}
FOLDER = "submitit_folder"


class SubmititLauncher(BaseSubmititLauncher):
    """Hydra's launcher, which raises the error of the first job that is lost while others are queued and running.

    Here all jobs are waited for, and what became of each is returned: whoever submits the lost ones again does not
    submit the others a second time.
    """

    #: Whether results lie on a disk that nodes share, which may show them late: submitit waits 15 s for one.
    _disk_is_shared = True

    def launch(self, job_overrides: Sequence[Sequence[str]], initial_job_idx: int) -> list[JobReturn]:
        """Submit all jobs, wait for them, and return in their order what became of each."""
        Path(str(self.config.hydra.sweep.dir)).mkdir(parents=True, exist_ok=True)
        given = [
            (list(overrides), "hydra.sweep.dir", number, f"job_id_for_{number}", Singleton.get_state())
            for number, overrides in enumerate(job_overrides, start=initial_job_idx)
        ]
        jobs = self._executor().map_array(self, *zip(*given, strict=True))
        return [self._outcome(job, overrides) for job, overrides in zip(jobs, job_overrides, strict=True)]

    def _outcome(self, job: Any, overrides: Sequence[str]) -> JobReturn:
        """Wait for a job, and return what its first task does, or that the job is lost."""
        job.wait()
        if not self._disk_is_shared and not job.paths.result_pickle.exists():
            return _lost("no result", overrides)
        try:
            returned: JobReturn = job.results()[0]
        except Exception as error:
            return _lost(type(error).__name__, overrides)
        return returned

    def _executor(self) -> Any:
        """Return submitit's executor with all settings of the launcher, those of one cluster under its name."""
        import submitit

        def named(names: set[str], shared: set[str]) -> dict[str, Any]:
            return {name if name in shared else f"{self._EXECUTOR}_{name}": self.params[name] for name in names}

        own = OF_EXECUTOR & self.params.keys()
        executor = submitit.AutoExecutor(self.params[FOLDER], cluster=self._EXECUTOR, **named(own, set()))
        of_every_cluster = set(OmegaConf.structured(BaseQueueConf).keys())
        executor.update_parameters(**named(self.params.keys() - own - {FOLDER}, of_every_cluster))
        return executor


def _lost(why: str, overrides: Sequence[str]) -> JobReturn:
    return JobReturn(overrides=list(overrides), status=JobStatus.FAILED, _return_value=LostJobError(why))


class LocalLauncher(SubmititLauncher):
    """On this machine."""

    _EXECUTOR = "local"
    _disk_is_shared = False


class SlurmLauncher(SubmititLauncher):
    """On a SLURM cluster."""

    _EXECUTOR = "slurm"
