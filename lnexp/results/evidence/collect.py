"""Read the runs of a recipe from their folders."""

import shlex
from dataclasses import replace
from pathlib import Path

from omegaconf import DictConfig, OmegaConf

from lnexp.configuration import check, compose
from lnexp.errors import UserError
from lnexp.numerics import NUMERICS
from lnexp.recipes.command_line import for_readers, own_options, profile_of, with_corpus
from lnexp.recipes.jobs import Job, jobs_of
from lnexp.recipes.recipe import Recipe
from lnexp.results.evidence.run_result import RunResult
from lnexp.runs import records
from lnexp.runs.folder import RunFolder, find_folders
from lnexp.runs.identity import identities
from lnexp.runs.status import DONE
from lnexp.tasks import table_of
from lnexp.tasks.contract import Record


def collect(recipe: Recipe, overrides: list[str], numerics: int = NUMERICS) -> list[RunResult]:
    """Return all runs of a recipe, seed by seed; those that are missing or malformed have such a state.

    Args:
        recipe: what was trained.
        overrides: the command-line overrides that the runs were launched with.
        numerics: the version of the numerics that they were trained with; runs of another are missing.
    """
    profile = profile_of(overrides)
    settings = with_corpus(recipe, profile, overrides)
    base = compose([*recipe.choice_of_task, *settings])
    own = tuple(own_options(recipe, profile, overrides))
    folders = find_folders(base.runs_dir)
    by_arm: dict[str, list[Job]] = {}
    for job in jobs_of(recipe, base):
        by_arm.setdefault(job.arm.name, []).append(job)
    found = []
    for jobs in by_arm.values():
        cfg = compose([*settings, *jobs[0].overrides])
        check(cfg)  # the names of folders are in it
        runs = identities(cfg, [job.seed for job in jobs], numerics)
        OmegaConf.resolve(cfg)
        found += [read_run(job, cfg, run, folders.get(run)) for job, run in zip(jobs, runs, strict=True)]
    said = [f"profile={base.profile}", *(option for option in settings if not option.startswith("profile="))]
    return [replace(run, own_options=own, command=_command(said, run.job)) for run in found]


def _command(said: list[str], job: Job) -> str:
    return shlex.join(["python", "scripts/train.py", *for_readers(said), *job.overrides])


def read_run(job: Job, cfg: DictConfig, run: str, path: Path | None) -> RunResult:
    """Return the run of a job from its folder, whatever state it is in.

    Args:
        job: which arm and seed.
        cfg: its arm's resolved config.
        run: its identity.
        path: its folder; None where it has none.
    """
    if path is None:
        return RunResult(job, cfg, run, "not run")
    folder = RunFolder(path)
    try:
        state, read = str(folder.status.get("state", "not run")), records.read(folder.metrics)
        if state in DONE:
            _check_complete(folder, read, table_of(cfg).records_every_epoch(cfg))
        kinds = ("epoch", "probe", "updates", "snapshot", "end")
        epochs, probes, updates, snapshots, ends = (records.of_kind(kind, read) for kind in kinds)
        end = ends[0] if ends else {}
        found = (epochs, probes, updates, snapshots, end)
        return RunResult(job, cfg, run, state, "", *found, folder.environment, path=path)
    except (UserError, OSError) as error:
        return RunResult(job, cfg, run, "malformed", problem=str(error), path=path)


def _check_complete(folder: RunFolder, read: list[Record], every_epoch: bool) -> None:
    """Raise UserError where a run that is over lacks an epoch, its end or its environment.

    Args:
        folder: the run's.
        read: its records.
        every_epoch: whether it has a record of every epoch.
    """
    problem = None
    epochs = records.of_kind("epoch", read)
    if not read or records.of_kind("end", read) != read[-1:]:
        problem = "its end record is missing, or not the last"
    elif every_epoch and [record["epoch"] for record in epochs] != list(range(1, len(epochs) + 1)):
        problem = "it does not have every epoch"
    elif every_epoch and folder.status["state"] == "finished" and _last_update(epochs) != folder.status["updates"]:
        problem = "its last epochs are missing"
    else:
        about = folder.environment
        if lacking := [part for part in ("data", "git", "cpu", "device") if part not in about]:
            problem = f"environment.json lacks {lacking[-1]}"
    if problem:
        raise UserError(f"{folder.path}: the run is over, but {problem}; force=true trains it afresh")


def _last_update(epochs: list[Record]) -> int | None:
    return epochs[-1]["update"] if epochs else None
