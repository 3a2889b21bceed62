"""Measure the arms of the theory's recipes, and write their tables, figures and verdicts."""

import sys
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from joblib import Parallel, delayed, parallel_config
from omegaconf import OmegaConf

from lnexp.configuration import check, compose
from lnexp.errors import UserError, near_names
from lnexp.hashing import short_hash
from lnexp.options import key_of
from lnexp.paths import LOCAL_RESULTS_DIR, is_published
from lnexp.probing.options import check_options, part_of
from lnexp.processes import available_cores, end_with_parent, one_quiet_thread
from lnexp.recipes.command_line import own_corpus
from lnexp.recipes.jobs import NO_CORPUS, THEORY, Job, jobs_of
from lnexp.recipes.recipe import Recipe
from lnexp.runs.environment import environment
from lnexp.tasks import load_task, task_of

REFUSAL = "set by the recipes of the theory (model=… or checkpoint=… without a recipe probes one model)"


def probe_recipes(
    recipes: Sequence[Recipe], options: list[str], results_dir: Path, leave_out_others: bool = False
) -> None:
    """Measure every arm of every recipe with every seed; write tables, figures and verdicts, and say how they compare
    with the published ones; where ``results_dir`` is the root of these, move them there.

    Args:
        recipes: to measure.
        options: of the command line.
        results_dir: where results go.
        leave_out_others: whether options that are not of the corpus, the seeds or where runs lie are left out, as where
            others train with the same options.

    Raises:
        UserError: for an option other than corpus and seeds, a recipe that is trained, or what is not published.
    """
    from lnexp.results.pages.compare import print_comparisons
    from lnexp.results.pages.verdict_pages import write_page
    from lnexp.results.writing.publish import print_published, publish_folders, refuse_some_arms

    of_runs = any(recipe.is_of_trained_runs for recipe in recipes)
    of_measurements = ("corpus", "seeds", *(["runs"] if of_runs else []))
    if leave_out_others:
        options = [option for option in options if part_of(option) in of_measurements]
    check_options(options, (*of_measurements, "arms"), REFUSAL)
    if publishing := is_published(results_dir):
        refuse_some_arms(options)
        results_dir = LOCAL_RESULTS_DIR
    for recipe in recipes:
        if not recipe.measurement:
            command = f"python scripts/train.py -m +recipe={recipe.shown_reference}"
            raise UserError(f"recipe={recipe.name}: is trained, not measured; run {command}")
    folders = [_measure_recipe(recipe, options, results_dir) for recipe in recipes]
    write_page(results_dir)
    print_comparisons(folders)
    if publishing:
        print_published(publish_folders(folders))


def _measure_recipe(recipe: Recipe, options: list[str], results_dir: Path) -> Path:
    """Measure every arm of one recipe with every seed, write the results, and return their folder."""
    from lnexp.results.evidence.probe_result import ProbeResult
    from lnexp.results.writing.write_probe import write_probe

    drawn = recipe.profiles[THEORY].data == NO_CORPUS
    given = [option for option in options if not (drawn and part_of(option) == "corpus")]
    overrides = [*recipe.choice_of_task, *(given if drawn else own_corpus(recipe, THEORY, given))]
    cfg = compose(overrides)
    check(cfg)
    jobs = jobs_of(recipe, cfg)
    manifest = None if drawn else task_of(cfg).prepare(cfg.data, cfg.data_dir).manifest
    papers = manifest is not None and _is_the_papers(recipe, manifest, given)
    where = environment("cpu", manifest or {})
    found = _measure_all(jobs, overrides)
    data = NO_CORPUS if drawn else cfg.data.name
    results = [ProbeResult(job, rows, papers, data) for job, rows in zip(jobs, found, strict=True)]
    folder = write_probe(recipe, results, data, manifest, where, given, results_dir)
    print(f"{recipe.name}: tables, figure and verdicts in {folder}", flush=True)
    return folder


def _is_the_papers(recipe: Recipe, manifest: dict[str, Any], options: list[str]) -> bool:
    """Return whether the corpus is all of the corpus of the paper's Fig. 3, prepared as its config states.

    The sizes of the models need no check: they are the paper's in the recipes.
    """
    return load_task(recipe.task).is_whole("iwslt14", manifest) and all(
        option == "data=iwslt14" or key_of(option) == "data_dir" or part_of(option) == "seeds" for option in options
    )


def _measure_all(jobs: Sequence[Job], overrides: list[str]) -> list[list[dict[str, Any]]]:
    """Return the rows of every job, measured in a process a core; jobs of equal settings are measured once."""
    from tqdm import tqdm

    settings = [settings_of(job) for job in jobs]
    keys = [short_hash([job.seed, what]) for job, (what, _) in zip(jobs, settings, strict=True)]
    once = {key: (job, what) for key, job, (what, _) in zip(keys, jobs, settings, strict=True)}
    work = (delayed(_measure)(job.recipe.measurement, job.seed, what, overrides) for job, what in once.values())
    found = in_workers(work, available_cores())
    rows = dict(zip(once, tqdm(found, total=len(once), desc=jobs[0].recipe.name, file=sys.stderr), strict=True))
    return [_select(rows[key], only) for key, (_, only) in zip(keys, settings, strict=True)]


def in_workers(work: Iterable[Any], processes: int) -> Iterator[Any]:
    """Yield the results of joblib's delayed calls in their order, from processes that end with this one."""
    with parallel_config(backend="loky", initializer=end_with_parent):
        yield from Parallel(n_jobs=processes, return_as="generator")(work)


def _select(rows: list[dict[str, Any]], only: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the rows that have the values of ``only`` in its columns.

    Raises:
        UserError: for a value that no row has.
    """
    for column, value in only.items():
        found = {row.get(column) for row in rows}
        if value not in found:
            raise UserError(f"only.{column}={value}: not in the measurement; {near_names(str(value), map(str, found))}")
    return [row for row in rows if all(row.get(column) == value for column, value in only.items())]


def settings_of(job: Job) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the settings of a job's measurement, and ``only``: which of its rows are the arm's, by column."""
    words = [*job.recipe.settings, *job.recipe.profiles[job.profile].overrides, *job.arm.overrides]
    settings: Any = OmegaConf.to_container(OmegaConf.from_dotlist(words))
    return settings, settings.pop("only", {})


def _measure(name: str, seed: int, settings: dict[str, Any], overrides: list[str]) -> list[dict[str, Any]]:
    import lnexp.theory.measurements  # noqa: F401  (registers them)
    from lnexp.theory.measurement import Context, measure

    one_quiet_thread()
    return measure(name, Context(seed, overrides), settings)
