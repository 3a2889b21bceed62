"""Make a recipe of any runs: those with one setting are an arm, and what differs between arms is their name."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from omegaconf import OmegaConf

from lnexp.errors import UserError
from lnexp.figures.curves import curves
from lnexp.figures.panels import Drawing
from lnexp.numerics import numerics_of
from lnexp.recipes.jobs import Job
from lnexp.recipes.recipe import Arm, Recipe, Setting
from lnexp.results.evidence.collect import read_run
from lnexp.results.evidence.run_result import RunResult
from lnexp.results.tables.differing import NUMERICS, differing
from lnexp.results.tables.labels import as_typed, labels_of
from lnexp.results.tables.run_tables import epochs_table
from lnexp.runs.folder import RunFolder, by_identity, is_named, misnamed, which_counts
from lnexp.tasks import task_of

#: Options of a run that tables show of it.
NEEDED = (
    "seed", "profile", "threads", "lr_max", "warmup_updates", "data.name", "model._name", "optimizer._name",
    "lr_schedule._name",
)  # fmt: skip


def results_of(paths: Sequence[Path], name: str) -> tuple[list[RunResult], list[str]]:
    """Return runs as those of a recipe whose arms are made of what differs, arm by arm.

    Args:
        paths: their folders.
        name: of the recipe.

    Returns:
        The runs, and why others were left out: those whose name, config or seed cannot be read, and copies.

    Raises:
        UserError: where no run is left, or the runs are of several tasks, which have different scores.
    """
    configs: dict[Path, dict[str, Any]] = {}
    problems = [misnamed(path) for path in paths if not is_named(path)]
    for copies in by_identity(filter(is_named, paths)).values():
        path = which_counts(copies)
        problems += [f"{one}: a copy of {path}" for one in copies if one != path]
        try:
            folder = RunFolder(path)
            made_with = folder.environment  # empty before a run has begun
            of_numerics = {NUMERICS: numerics_of(made_with)} if made_with else {}
            configs[path] = folder.config_with(NEEDED) | of_numerics
        except UserError as error:
            problems.append(str(error))
    if not configs:
        raise UserError(f"{name}: no run that can be read{''.join(f'; {problem}' for problem in problems)}")
    tasks = sorted({task_of(config).name for config in configs.values()})
    if len(tasks) > 1:
        raise UserError(f"{name}: runs of several tasks, {' and '.join(tasks)}; collect them one by one")
    settings = differing(list(configs.values()))
    labels = dict(zip(configs, labels_of(settings), strict=True))
    overrides = {labels[path]: _overrides(setting) for path, setting in zip(configs, settings, strict=True)}
    recipe = _recipe(name, tasks[0], dict(sorted(overrides.items())), next(iter(configs.values())))
    arms = {arm.label: arm for arm in recipe.arms.values()}
    return [_result(recipe, arms[labels[path]], path, config) for path, config in configs.items()], problems


def curves_of(runs: list[RunResult]) -> Drawing | None:
    """Return the curves of the runs that are over, of :func:`results_of`; None where these have no epoch."""
    over = [run for run in runs if run.counts and run.epochs]
    if not over:
        return None
    corpora = sorted({str(run.cfg.data.name) for run in runs})
    return curves(runs[0].job.recipe, epochs_table(over), f"data {', '.join(corpora)}")


def _overrides(settings: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the settings of an arm one by one, by which its line gets its colour and dash."""
    return tuple(as_typed(key, value) for key, value in settings.items())


def _recipe(name: str, task: str, overrides: Mapping[str, tuple[str, ...]], config: Mapping[str, Any]) -> Recipe:
    arms = {
        f"arm{number}": Arm(f"arm{number}", label, said) for number, (label, said) in enumerate(overrides.items(), 1)
    }
    setting = Setting(str(config["data"]["name"]))
    return Recipe(
        name=name,
        title="what differs between the runs",
        figure=name,
        source="",
        reading="",
        settings=(),
        profiles={str(config["profile"]): setting},
        first_seed=0,
        n_seeds=1,
        arms=arms,
        claims=(),
        task=task,
    )


def _result(recipe: Recipe, arm: Arm, path: Path, config: dict[str, Any]) -> RunResult:
    job = Job(recipe, str(config["profile"]), arm, config["seed"])
    return read_run(job, OmegaConf.create(config), RunFolder(path).identity, path)
