"""How far a run is."""

import statistics
from dataclasses import dataclass
from datetime import datetime
from itertools import pairwise
from pathlib import Path

from lnexp.errors import UserError
from lnexp.runs.folder import DONE, RunFolder
from lnexp.runs.lock import is_held
from lnexp.runs.sweep import Member


@dataclass(frozen=True)
class Progress:
    """One run at one moment.

    Attributes:
        state: ``status.json``'s, ``waiting`` before there is one, ``interrupted`` where no process trains a run that
            says it is running, or ``malformed``.
        epochs: epochs done.
        bleu: validation BLEU of the last one; None before it.
        tokens_per_second: of the last one.
        seconds_an_epoch: from one epoch's end to the next one's, the median; None before there are two.
        why: what went wrong, if something did.
    """

    state: str
    epochs: int = 0
    bleu: float | None = None
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


def progress(member: Member, path: Path | None, runs_dir: str | Path) -> Progress:
    """The progress of a run whose folder is ``path``; None where it has none yet."""
    if path is None:
        return Progress("waiting")
    folder = RunFolder(path)
    try:
        (state, why), epochs = state_of(folder, runs_dir), folder.epochs()
    except UserError as error:
        return Progress("malformed", why=str(error))
    last = epochs[-1] if epochs else {}
    return Progress(
        state,
        epochs=len(epochs),
        bleu=last.get("valid_bleu"),
        tokens_per_second=last.get("tokens_per_second"),
        seconds_an_epoch=_pace([record["time"] for record in epochs if "time" in record]),
        why=why,
    )


def state_of(folder: RunFolder, runs_dir: str | Path) -> tuple[str, str]:
    """A run's state, and why it is; as :class:`Progress` has them. Raises UserError where its status is malformed."""
    status = folder.status
    state = status.get("state", "waiting")
    if state == "running" and not is_held(runs_dir, folder.identity):
        state = "interrupted"
    return state, status.get("why", "")


def _pace(times: list[str]) -> float | None:
    """The median, because a run that was interrupted has one long pause."""
    moments = [datetime.fromisoformat(time) for time in times]
    gaps = [(after - before).total_seconds() for before, after in pairwise(moments)]
    return statistics.median(gaps) if gaps else None


def clock(seconds: float) -> str:
    """``3:20``, or ``1:03:20`` from an hour on."""
    minutes, seconds = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02d}:{seconds:02d}" if hours else f"{minutes}:{seconds:02d}"
