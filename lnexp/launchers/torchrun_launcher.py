"""Train the runs of a sweep one after another, each on many GPUs of this machine: ``hydra/launcher=torchrun``."""

import signal
import sys
import uuid
from collections.abc import Sequence
from typing import Any

from hydra.core.utils import JobReturn, JobStatus
from omegaconf import DictConfig

from lnexp.checks import check_whole
from lnexp.cli import EXIT_USER_ERROR
from lnexp.errors import UserError
from lnexp.launchers.composing_launcher import ComposingLauncher
from lnexp.options import is_of_hydra
from lnexp.paths import ROOT
from lnexp.runs.folder import RunFolder, status_of
from lnexp.runs.lock import RunBusyError, is_held
from lnexp.runs.status import Status
from lnexp.training.shares import fitting


class TorchrunLauncher(ComposingLauncher):
    """Has torchrun start the processes of each run, as ``torchrun scripts/train.py …`` would.

    Args:
        processes: how many a run has; None takes one for each GPU, as many as share the batches of an update evenly.

    Raises:
        UserError: for fewer than one process.
    """

    def __init__(self, processes: int | None):
        if processes is not None:
            check_whole("hydra.launcher.processes", processes, 1)
        self.processes = processes

    def launch(self, job_overrides: Sequence[Sequence[str]], initial_job_idx: int) -> list[JobReturn]:
        """Train all jobs, and return in their order what became of each.

        Raises:
            ChildFailedError: where a process died and the run has no reason in its folder.
        """
        return [self._train(*job) for job in zip(job_overrides, self.compose(job_overrides), strict=True)]

    def _train(self, overrides: Sequence[str], cfg: DictConfig) -> JobReturn:
        from torch.distributed.elastic.multiprocessing.errors import ChildFailedError

        result = JobReturn(overrides=list(overrides), cfg=cfg, status=JobStatus.COMPLETED)
        words = [override for override in overrides if not is_of_hydra(override)]
        before = status_of(RunFolder.of(cfg).path)
        try:
            _torchrun(self.processes or fitting(cfg.update_freq, _gpus(cfg.device)), words)
            result._return_value = RunFolder.of(cfg).best_nll()
        except ChildFailedError as error:
            why = _why_failed(RunFolder.of(cfg), before, error, str(cfg.runs_dir))
            if why is None:
                raise
            result.status, result._return_value = JobStatus.FAILED, why
        return result


def _why_failed(folder: RunFolder, before: Status, error: Any, runs_dir: str) -> UserError | None:
    """Return why a run failed or was refused; None where a process died without a word.

    Args:
        folder: of the run.
        before: its status before it was launched.
        error: torchrun's, of the processes that failed.
        runs_dir: where the run's lock lies.
    """
    status = folder.status
    if status.get("state") == "failed" and status != before:  # else it failed before this launch
        return UserError(status["why"])
    _, first = error.get_first_failure()
    if first.exitcode != EXIT_USER_ERROR:
        return None
    if is_held(runs_dir, folder.identity):
        return RunBusyError(f"{folder.identity}: another process is training this run")
    return UserError("it was refused; its first process says why, above")


def _gpus(device: str) -> int:
    import torch

    return 0 if device == "cpu" else torch.cuda.device_count()


#: The signals that torchrun takes over while it runs.
HANDLED = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGQUIT, signal.SIGUSR1, signal.SIGUSR2)


def _torchrun(processes: int, words: list[str]) -> None:
    """Run ``torchrun --standalone --nproc-per-node=… scripts/train.py …`` from this process.

    Raises:
        ChildFailedError: where a process fails.
        UserError: where this process received a signal to stop.
    """
    from torch.distributed.elastic.multiprocessing.api import SignalException
    from torch.distributed.launcher.api import LaunchConfig, elastic_launch

    before = {number: handler for number in HANDLED if (handler := signal.getsignal(number)) != signal.SIG_IGN}
    launch = LaunchConfig(
        min_nodes=1,
        max_nodes=1,
        nproc_per_node=processes,
        run_id=str(uuid.uuid4()),
        rdzv_backend="c10d",
        rdzv_endpoint="localhost:0",
        max_restarts=0,
        monitor_interval=0.1,
    )
    if hasattr(launch, "signals_to_handle"):  # newer releases of torch can pass on more than the first four
        launch.signals_to_handle = ",".join(number.name for number in before)
    received: signal.Signals | None = None
    try:
        elastic_launch(launch, sys.executable)(str(ROOT / "scripts" / "train.py"), *words)
    except SignalException as error:  # the processes have received it, and have ended: so does the sweep
        received = error.sigval
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
    if received is not None:
        signal.raise_signal(received)
        raise UserError(f"stopped by {received.name}; the same command resumes the run")
