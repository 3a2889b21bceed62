"""Recipes that probe, from nothing to verdicts."""

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from joblib import Parallel, delayed
from omegaconf import OmegaConf

from lnexp.configuration import check, compose
from lnexp.corpora.known import is_whole
from lnexp.corpora.prepare import prepare
from lnexp.errors import UserError, near_names
from lnexp.hashing import short_hash
from lnexp.one_thread import one_quiet_thread
from lnexp.probing.options import CORPUS, SEEDS, check_options, group_of
from lnexp.processes import available_cores
from lnexp.recipes.command_line import own_corpus
from lnexp.recipes.recipe import THEORY, Job, Recipe, jobs_of
from lnexp.runs.environment import environment

REFUSAL = "recipes that probe say it themselves (one model is probed by model=… or checkpoint=…, without recipes)"
#: What stands for a corpus where the inputs are drawn.
NO_CORPUS = "gaussian"


def probe_recipes(recipes: Sequence[Recipe], options: list[str], results_dir: Path) -> None:
    """Measure every arm of every recipe with every seed; write tables, figures and verdicts.

    Raises:
        UserError: for an option other than corpus and seeds, or a recipe that is trained.
    """
    from lnexp.results.verdicts import write_page

    check_options(options, (*CORPUS, *SEEDS), REFUSAL)
    for recipe in recipes:
        if not recipe.measurement:
            said = f"+recipe={recipe.name}"
            raise UserError(f"recipe={recipe.name}: is trained, not probed; say python scripts/train.py -m {said}")
    for recipe in recipes:
        _probe(recipe, options, results_dir)
    write_page(results_dir)


def _probe(recipe: Recipe, options: list[str], results_dir: Path) -> None:
    """Measure every arm with every seed, and write what was found."""
    from lnexp.results.probe_result import ProbeResult
    from lnexp.results.write_probe import write_probe

    drawn = recipe.profiles[THEORY].data == NO_CORPUS
    said = [option for option in options if not (drawn and group_of(option) in CORPUS)]
    overrides = said if drawn else own_corpus(recipe, THEORY, said)
    cfg = compose(overrides)
    check(cfg)
    jobs = jobs_of(recipe, cfg)
    manifest = None if drawn else prepare(cfg.data, cfg.data_dir).manifest
    papers = manifest is not None and _is_the_papers(manifest, said)
    where = environment("cpu", manifest or {})
    found = _measure_all(jobs, overrides)
    results = [ProbeResult(job, rows, papers) for job, rows in zip(jobs, found, strict=True)]
    folder = write_probe(recipe, results, NO_CORPUS if drawn else cfg.data.name, manifest, where, said, results_dir)
    print(f"{recipe.name}: tables, figure and verdicts in {folder}", flush=True)


def _is_the_papers(manifest: dict[str, Any], said: list[str]) -> bool:
    """Whether it is the whole of the corpus of the paper's Fig. 3, in the form that its config gives it.

    The models' sizes are the paper's in the recipes.
    """
    whole = manifest.get("part_of") == "iwslt14" and is_whole("iwslt14", manifest["pairs"]["train"])
    return whole and all(option == "data=iwslt14" or group_of(option) in ("data_dir", *SEEDS) for option in said)


def _measure_all(jobs: Sequence[Job], overrides: list[str]) -> list[list[dict[str, Any]]]:
    """The rows of every job, in a process a core; what several arms look at is measured once."""
    from tqdm import tqdm

    settings = [settings_of(job) for job in jobs]
    keys = [short_hash([job.seed, what]) for job, (what, _) in zip(jobs, settings, strict=True)]
    once = {key: (job, what) for key, job, (what, _) in zip(keys, jobs, settings, strict=True)}
    work = (delayed(_measure)(job.recipe.measurement, job.seed, what, overrides) for job, what in once.values())
    found = Parallel(n_jobs=available_cores(), return_as="generator")(work)
    rows = dict(zip(once, tqdm(found, total=len(once), desc=jobs[0].recipe.name, file=sys.stderr), strict=True))
    return [_only(rows[key], only) for key, (_, only) in zip(keys, settings, strict=True)]


def _only(rows: list[dict[str, Any]], only: dict[str, Any]) -> list[dict[str, Any]]:
    """The rows that are ``only`` this or that."""
    for column, value in only.items():
        found = {row.get(column) for row in rows}
        if value not in found:
            raise UserError(
                f"only.{column}={value}: the probe measured no such thing; {near_names(value, map(str, found))}"
            )
    return [row for row in rows if all(row[column] == value for column, value in only.items())]


def settings_of(job: Job) -> tuple[dict[str, Any], dict[str, Any]]:
    """What the probe of a job is told, and which of its rows are the arm's: those that are ``only`` this or that."""
    words = [*job.recipe.settings, *job.recipe.profiles[job.profile].overrides, *job.arm.overrides]
    settings: Any = OmegaConf.to_container(OmegaConf.from_dotlist(words))
    return settings, settings.pop("only", {})


def _measure(probe: str, seed: int, settings: dict[str, Any], overrides: list[str]) -> list[dict[str, Any]]:
    import lnexp.theory.probes  # noqa: F401  (registers them)
    from lnexp.theory.probe import Context, measure

    one_quiet_thread()
    return measure(probe, Context(seed, overrides), settings)
