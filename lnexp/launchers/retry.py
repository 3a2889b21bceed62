"""Launch runs again and again, until each is done, has failed, or has died too often."""

import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from subprocess import CalledProcessError
from typing import Any

from hydra.core.utils import JobReturn, JobStatus

from lnexp.errors import UserError
from lnexp.options import key_of
from lnexp.printable import one_line
from lnexp.runs.folder import find_folders, status_of
from lnexp.runs.lock import RunBusyError, is_held
from lnexp.runs.own_files import is_set_aside
from lnexp.runs.status import DONE

Launch = Callable[[list[list[str]]], Sequence[JobReturn]]

#: A run whose process dies so often is given up. Its last try is alone, so that it ends no other run.
DEATHS = 3


class LostJobError(Exception):
    """A job ended without a word of what became of its run; the text is the kind of error that tells it."""


@dataclass(frozen=True)
class Planned:
    """One run to launch.

    Attributes:
        identity: names the run.
        name: what people call it.
        overrides: what Hydra makes its config of.
        after: the identity of the run that it starts from, which is launched first; empty where there is none.
    """

    identity: str
    name: str
    overrides: list[str]
    after: str = ""

    def resumed(self) -> "Planned":
        """Return the run as it is launched after a death: ``force`` has trained it afresh once."""
        return replace(self, overrides=[override for override in self.overrides if key_of(override) != "force"])


class RepeatedLaunch:
    """Launches runs, and after a process has died those that are left, until none is.

    A run that starts from another one is launched when that one is over or has failed. A launcher gives up all its
    jobs when one of its processes dies. A run that another program trains is waited for, and taken over if that program
    dies.

    Attributes:
        left: the runs that are neither done nor given up, by identity.
        failures: why runs failed, by their names.
        returns: what launchers returned.
    """

    def __init__(self, runs: list[Planned], launch: Launch, runs_dir: str | Path, force: bool):
        self.left = {run.identity: run for run in runs}
        self.failures: dict[str, str] = {}
        self.returns: list[JobReturn] = []
        self._launch, self._runs_dir, self._force = launch, runs_dir, force
        self._deaths: Counter[str] = Counter()
        self._fruitless = 0

    def run(self) -> None:
        """Launch until nothing is left; :attr:`failures` then says which runs failed, and why.

        Raises:
            UserError: where a cluster refuses the jobs.
            Exception: the launcher's own, where it fails several times without having started a run.
        """
        while self.left:
            batch = self._next_batch()
            if not batch:
                self._wait()
                continue
            before = self._states(batch)
            try:
                returns = self._launch([run.overrides for run in batch])
            except Exception as error:
                _raise_refusal(error)
                self._after_a_death(batch, before, error)
            else:
                for run, job in zip(batch, returns, strict=True):
                    self._after_a_job(run, job, before[run.identity])
                self.returns += returns

    def _next_batch(self) -> list[Planned]:
        """Return the runs to launch next: of those that no program trains, the ones that died least often.

        A run that has one try left is launched alone.
        """
        if not self._force:
            self._drop_done()
        free = self._free()
        fewest = min((self._deaths[run.identity] for run in free), default=0)
        batch = [run for run in free if self._deaths[run.identity] == fewest]
        return batch[:1] if fewest == DEATHS - 1 else batch

    def _free(self) -> list[Planned]:
        """Return the runs that no other program trains, and that start from none that is left."""
        ready = (run for run in self.left.values() if run.after not in self.left)
        return [run for run in ready if not is_held(self._runs_dir, run.identity)]

    def _drop_done(self) -> None:
        """Forget the runs that are done, by this program or another one."""
        for identity, path in find_folders(self._runs_dir).items():
            if identity in self.left and status_of(path).get("state") in DONE:
                del self.left[identity]

    def _wait(self) -> None:
        """Wait until one of the runs is not held by another program any more."""
        if not self.left:
            return
        print(f"{len(self.left)} runs are being trained by another process: waiting for them", flush=True)
        while self.left and not self._free():
            time.sleep(1)

    def _after_a_job(self, run: Planned, job: JobReturn, before: Any) -> None:
        """Note what became of a job whose launcher returned. A run that another program holds stays in ``left``."""
        error = job._return_value  # the public property raises it
        if job.status == JobStatus.COMPLETED:
            del self.left[run.identity]
        elif isinstance(error, LostJobError):
            now = self._states([run])[run.identity]
            if now == before:
                self._count_death(run, str(error))
            else:
                self._after_its_end(run, now, str(error))
            _say_that_a_process_died(str(error))
        elif not isinstance(error, RunBusyError):
            self._give_up(run, _reason(error))

    def _after_a_death(self, batch: list[Planned], before: dict[str, Any], error: Exception) -> None:
        """Note what became of runs whose launcher raised an error: done, failed, or ended with their process.

        Args:
            batch: the runs that were launched.
            before: their states before.
            error: what the launcher raised.
        """
        now = self._states(batch)
        begun = [run for run in batch if now[run.identity] != before[run.identity]]
        self._fruitless = 0 if begun else self._fruitless + 1
        if self._fruitless == DEATHS:
            raise error
        kind = type(error).__name__
        for run in begun:
            self._after_its_end(run, now[run.identity], kind)
        _say_that_a_process_died(kind)

    def _after_its_end(self, run: Planned, status: Any, kind: str) -> None:
        """Note what became of a run that had begun, by its status: done, failed, or ended with its process."""
        state = status.get("state")
        if state in DONE:
            del self.left[run.identity]
        elif state == "failed":  # some launchers raise for a run that failed
            self._give_up(run, str(status.get("why")))
        elif state == "running" and not is_held(self._runs_dir, run.identity):
            self.left[run.identity] = run if self._has_not_begun(run) else run.resumed()
            self._count_death(run, kind)

    def _has_not_begun(self, run: Planned) -> bool:
        """Return whether a run that ``force`` is to train afresh still has what it had before."""
        folder = find_folders(self._runs_dir).get(run.identity)
        return folder is not None and is_set_aside(folder)

    def _count_death(self, run: Planned, kind: str) -> None:
        self._deaths[run.identity] += 1
        if self._deaths[run.identity] == DEATHS:
            self._give_up(run, f"its process died {DEATHS} times ({kind})")

    def _give_up(self, run: Planned, reason: str) -> None:
        del self.left[run.identity]
        self.failures[run.name] = reason

    def _states(self, batch: list[Planned]) -> dict[str, Any]:
        folders = find_folders(self._runs_dir)
        return {run.identity: status_of(folders.get(run.identity)) for run in batch}


def _say_that_a_process_died(kind: str) -> None:
    print(f"a process of this sweep died ({kind}): continuing with the runs that are left", flush=True)


def _raise_refusal(error: Exception) -> None:
    """Raise a UserError for what submitit raises where ``sbatch`` fails, as for an unknown partition."""
    refused = error.__cause__
    if isinstance(refused, CalledProcessError):
        command = Path(refused.cmd[0] if isinstance(refused.cmd, list) else refused.cmd).name
        raise UserError(f"{command} refuses the jobs: {one_line(str(error))}") from None


def _reason(error: Any) -> str:
    return str(error) if isinstance(error, UserError) else f"{type(error).__name__}: {error} (see its train.log)"
