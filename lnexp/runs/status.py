"""What ``status.json`` says of a run."""

import os
from typing import Literal, NotRequired, TypedDict

from lnexp.schema import Count, Time

State = Literal["running", "finished", "diverged", "failed"]
DONE: tuple[State, ...] = ("finished", "diverged")


class Status(TypedDict):
    """The content of ``status.json``.

    Attributes:
        state: of the run.
        why: it failed or diverged; empty otherwise.
        updates: how many were made.
        host, pid, job: the machine, the process and the SLURM job that wrote it.
        started, changed: when the run was first started, and when this was written.
    """

    state: State
    why: str
    updates: Count
    host: NotRequired[str]
    pid: NotRequired[int]
    job: NotRequired[str | None]
    started: NotRequired[Time]
    changed: NotRequired[Time]


def slurm_job() -> str | None:
    """Return the number of the SLURM job that this process belongs to, which it keeps when it is queued again."""
    return os.environ.get("SLURM_JOB_ID")
