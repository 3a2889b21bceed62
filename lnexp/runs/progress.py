"""Tell how far a run is, from its folder."""

import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import pairwise
from pathlib import Path

from lnexp.errors import UserError
from lnexp.printable import one_line
from lnexp.runs import records
from lnexp.runs.folder import RunFolder
from lnexp.runs.lock import is_held
from lnexp.runs.status import DONE
from lnexp.runs.sweep import SweepRun
from lnexp.tasks import load_task
from lnexp.tasks.contract import Record


@dataclass(frozen=True)
class Progress:
    """One run at one moment.

    Attributes:
        state: ``status.json``'s, ``waiting`` before there is one, ``interrupted`` where no process trains a run that
            says it is running, or ``malformed``.
        epochs: epochs done.
        updates: updates done at the end of the last one.
        score: the task's score at the last validation; None before the first one.
        tokens_per_second: of the last epoch.
        seconds_an_epoch: from one epoch's end to the next one's, the median; None before there are two.
        why: what went wrong, if something did.
    """

    state: str
    epochs: int = 0
    updates: int = 0
    score: float | None = None
    tokens_per_second: float | None = None
    seconds_an_epoch: float | None = None
    why: str = ""

    @property
    def is_done(self) -> bool:
        return self.state in DONE

    @property
    def is_over(self) -> bool:
        """Whether it is done, or needs somebody's help."""
        return self.is_done or self.state in ("failed", "malformed")


def progress(member: SweepRun, path: Path | None, runs_dir: str | Path) -> Progress:
    """Return the progress of a run.

    Args:
        member: the run.
        path: its folder; None where it has none yet.
        runs_dir: where all run folders lie.
    """
    if path is None:
        return Progress("waiting")
    folder = RunFolder(path)
    try:
        found = records.read(folder.metrics)
        (state, why), epochs = state_of(folder, runs_dir, found), records.of_kind("epoch", found)
    except (UserError, OSError) as error:
        return Progress("malformed", why=str(error))
    last = epochs[-1] if epochs else {}
    return Progress(
        state,
        epochs=len(epochs),
        updates=last.get("update", 0),
        score=last.get(load_task(member.task).score.valid),
        tokens_per_second=last.get("tokens_per_second"),
        seconds_an_epoch=_pace([record["time"] for record in epochs if "time" in record]),
        why=why,
    )


def state_of(folder: RunFolder, runs_dir: str | Path, found: Sequence[Record]) -> tuple[str, str]:
    """Return a run's state and the reason for it, as :class:`Progress` has them.

    Args:
        folder: the run's.
        runs_dir: where all run folders lie.
        found: the run's records.

    Raises:
        UserError: where ``status.json`` is malformed, or there is no record in the file of a run that is over.
    """
    status = folder.status
    state: str = status.get("state", "waiting")
    if state in DONE and not found and folder.metrics.exists():
        raise UserError(f"{folder.metrics}: no record in it, but the run is {state}; force=true trains the run afresh")
    if state == "running" and not is_held(runs_dir, folder.identity):
        status = folder.status  # again: it may have ended since, and let go of its lock
        state = "interrupted" if status.get("state") == "running" else status.get("state", "waiting")
    return state, one_line(status.get("why", ""))


def _pace(times: list[str]) -> float | None:
    """Return the seconds between two epochs: the median, because a run that was interrupted has one long pause."""
    moments = [datetime.fromisoformat(time) for time in times]
    gaps = [(after - before).total_seconds() for before, after in pairwise(moments)]
    return statistics.median(gaps) if gaps else None


def clock(seconds: float) -> str:
    """Return seconds as ``3:20``, or ``1:03:20`` from an hour on."""
    minutes, seconds = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02d}:{seconds:02d}" if hours else f"{minutes}:{seconds:02d}"
