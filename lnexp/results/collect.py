"""The runs of a recipe, as they lie on disk."""

from dataclasses import dataclass, field
from typing import Any

from omegaconf import DictConfig

from lnexp.configuration import compose
from lnexp.errors import UserError
from lnexp.recipes import Job, Recipe, jobs_of
from lnexp.runs import records
from lnexp.runs.folder import DONE, RunFolder
from lnexp.runs.records import Record


@dataclass(frozen=True)
class RunResult:
    """One run of an arm.

    Attributes:
        job: which arm and seed.
        cfg: its resolved config.
        identity: names the run.
        state: ``status.json``'s state, ``not run``, or ``malformed`` where its files cannot be read.
        problem: what is malformed.
        epochs: its epoch records, oldest first.
        end: its end record; empty while there is none.
        environment: what it ran on; empty where unknown.
    """

    job: Job
    cfg: DictConfig
    identity: str
    state: str
    problem: str = ""
    epochs: list[Record] = field(default_factory=list)
    end: Record = field(default_factory=dict)
    environment: dict[str, Any] = field(default_factory=dict)

    @property
    def counts(self) -> bool:
        """Whether the run is over: only then is it evidence."""
        return self.state in DONE

    @property
    def diverged(self) -> bool:
        return self.state == "diverged"


def collect(recipe: Recipe, overrides: list[str]) -> list[RunResult]:
    """All runs of a recipe under the command-line overrides that they were launched with.

    A run that is missing or malformed is in the list too, and says so.
    """
    base = compose(overrides)
    return [_read(job, compose([*overrides, *job.overrides])) for job in jobs_of(recipe, base)]


def _read(job: Job, cfg: DictConfig) -> RunResult:
    folder = RunFolder.of(cfg)
    try:
        state = str(folder.status.get("state", "not run"))
        found = records.read(folder.metrics)
        return RunResult(
            job,
            cfg,
            folder.identity,
            state,
            epochs=[record for record in found if record["kind"] == "epoch"],
            end=next((record for record in found if record["kind"] == "end"), {}),
            environment=folder.environment,
        )
    except (UserError, UnicodeDecodeError) as error:
        return RunResult(job, cfg, folder.identity, "malformed", problem=str(error))
