"""The runs of a recipe, as they lie on disk."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from omegaconf import DictConfig, OmegaConf

from lnexp.composer import Composer
from lnexp.configuration import compose
from lnexp.corpora.known import is_whole
from lnexp.errors import UserError
from lnexp.recipes.command_line import with_corpus
from lnexp.recipes.recipe import Job, Recipe, jobs_of
from lnexp.runs import records
from lnexp.runs.folder import DONE, RunFolder, find_folders
from lnexp.runs.identity import identities
from lnexp.runs.records import Record


@dataclass(frozen=True)
class RunResult:
    """One run of an arm.

    Attributes:
        job: which arm and seed.
        cfg: its arm's config, whatever the seed in it.
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
    def is_the_papers(self) -> bool:
        """Whether it is of the paper's model on the whole of the corpus that its recipe takes from the paper."""
        data = self.environment.get("data", {})
        corpus = self.job.recipe.profiles["paper"].data
        whole = data.get("part_of") == corpus and is_whole(corpus, data["pairs"]["train"])
        return self.cfg.profile == "paper" and whole

    @property
    def diverged(self) -> bool:
        return self.state == "diverged"


def collect(recipe: Recipe, overrides: list[str]) -> list[RunResult]:
    """All runs of a recipe under the command-line overrides that they were launched with, seed by seed.

    A run that is missing or malformed is in the list too, and says so.
    """
    base = compose(overrides)
    settings = with_corpus(recipe, base.profile, overrides)
    composer, folders = Composer(compose), find_folders(base.runs_dir)
    by_arm: dict[str, list[Job]] = {}
    for job in jobs_of(recipe, base):
        by_arm.setdefault(job.arm.name, []).append(job)
    found = []
    for jobs in by_arm.values():
        cfg = composer.compose([*settings, *jobs[0].overrides])
        runs = identities(cfg, [job.seed for job in jobs])
        OmegaConf.resolve(cfg)
        found += [_read(job, cfg, run, folders.get(run)) for job, run in zip(jobs, runs, strict=True)]
    return found


def _read(job: Job, cfg: DictConfig, run: str, path: Path | None) -> RunResult:
    if path is None:
        return RunResult(job, cfg, run, "not run")
    try:
        folder = RunFolder(path)
        state, read = str(folder.status.get("state", "not run")), records.read(folder.metrics)
        epochs = [record for record in read if record["kind"] == "epoch"]
        end = next((record for record in read if record["kind"] == "end"), {})
        if state in DONE and not end:
            raise UserError(
                f"{folder.metrics}: the run is {state}, but its end is missing; force=true trains it afresh"
            )
        return RunResult(job, cfg, run, state, epochs=epochs, end=end, environment=folder.environment)
    except (UserError, UnicodeDecodeError) as error:
        return RunResult(job, cfg, run, "malformed", problem=str(error))
