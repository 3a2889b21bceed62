"""Recipes that probe, from nothing to verdicts: what ``make theory`` does."""

import argparse
import logging
import shlex
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from joblib import Parallel, delayed
from omegaconf import OmegaConf

from lnexp.cli import one_line_errors
from lnexp.configuration import compose
from lnexp.corpora.workshop import available_cores
from lnexp.errors import UserError
from lnexp.files import write_whole
from lnexp.hashing import short_hash
from lnexp.recipes.command_line import split_recipes
from lnexp.recipes.load import load_recipe, recipe_names
from lnexp.recipes.recipe import THEORY, Job, Recipe, jobs_of

#: What stands for a corpus where the inputs are drawn.
NO_CORPUS = "gaussian"


def main() -> None:
    """``probe.py [+recipe=fig3,…] [data=… n_seeds=…]``: measure, then tables, figures and verdicts; all by default."""
    parser = argparse.ArgumentParser(
        description="Measure what the paper's analysis is about, and judge its claims.",
        epilog="example: python scripts/probe.py +recipe=fig3 data=iwslt14",
    )
    parser.add_argument("overrides", nargs="*", help="+recipe=NAME (default: all that probe), data=…, n_seeds=… …")
    parser.add_argument("--results", type=Path, default=Path("results"), help="where results go (default: results/)")
    arguments = parser.parse_args()
    with one_line_errors():
        recipes, options = split_recipes(arguments.overrides)
        for recipe in recipes:
            if not recipe.probe:
                said = f"+recipe={recipe.name}"
                raise UserError(f"recipe={recipe.name}: is trained, not probed; say python scripts/train.py -m {said}")
        for recipe in recipes or [load_recipe(name) for name in recipe_names()]:
            if recipe.probe:
                _probe(recipe, options, arguments.results)
        _write_page(arguments.results)


def _probe(recipe: Recipe, options: list[str], results_dir: Path) -> None:
    """Measure every arm with every seed, and write what was found."""
    from lnexp.results.probed import ProbeResult
    from lnexp.results.write_probe import write_probe

    overrides = _with_corpus(recipe, options)
    cfg = compose(overrides)
    jobs = jobs_of(recipe, cfg)
    results = [ProbeResult(job, rows) for job, rows in zip(jobs, _measure_all(jobs, overrides), strict=True)]
    data = cfg.data.name if needs_corpus(recipe) else NO_CORPUS
    folder = write_probe(recipe, results, data, _command(recipe, options), results_dir)
    print(f"{recipe.name}: tables, figure and verdicts in {folder}", flush=True)


def needs_corpus(recipe: Recipe) -> bool:
    """Whether it probes with sentences; others draw their inputs."""
    return recipe.profiles[THEORY].data != NO_CORPUS


def _with_corpus(recipe: Recipe, options: list[str]) -> list[str]:
    """The options, with the recipe's own corpus where they name none."""
    if not needs_corpus(recipe) or any(option.startswith("data=") for option in options):
        return options
    return [f"data={recipe.profiles[THEORY].data}", *options]


def _measure_all(jobs: Sequence[Job], overrides: list[str]) -> list[list[dict[str, Any]]]:
    """The rows of every job, in a process a core; what several arms look at is measured once."""
    from tqdm import tqdm

    settings = [settings_of(job) for job in jobs]
    keys = [short_hash([job.seed, what]) for job, (what, _) in zip(jobs, settings, strict=True)]
    once = {key: (job, what) for key, job, (what, _) in zip(keys, jobs, settings, strict=True)}
    work = (delayed(_measure)(job.recipe.probe, job.seed, what, overrides) for job, what in once.values())
    found = Parallel(n_jobs=available_cores(), return_as="generator")(work)
    rows = dict(zip(once, tqdm(found, total=len(once), desc=jobs[0].recipe.name, file=sys.stderr), strict=True))
    return [
        [row for row in rows[key] if all(row[column] == value for column, value in only.items())]
        for key, (_, only) in zip(keys, settings, strict=True)
    ]


def settings_of(job: Job) -> tuple[dict[str, Any], dict[str, Any]]:
    """What the probe of a job is told, and which of its rows are the arm's: those that are ``only`` this or that."""
    words = [*job.recipe.settings, *job.recipe.profiles[job.profile].overrides, *job.arm.overrides]
    settings: Any = OmegaConf.to_container(OmegaConf.from_dotlist(words))
    return settings, settings.pop("only", {})


def _measure(probe: str, seed: int, settings: dict[str, Any], overrides: list[str]) -> list[dict[str, Any]]:
    logging.disable(logging.INFO)  # fairseq's
    import torch

    import lnexp.theory.probes  # noqa: F401  (registers them)
    from lnexp.theory.probe import Context, measure

    torch.set_num_threads(1)
    return measure(probe, Context(seed, overrides), settings)


def _command(recipe: Recipe, options: list[str]) -> str:
    """What a reader would type for the same results; where data lies is the reader's own affair."""
    said = [option for option in options if not option.startswith("data_dir=")]
    return f"python scripts/probe.py {shlex.join([f'+recipe={recipe.name}', *said])}"


def _write_page(results_dir: Path) -> None:
    from lnexp.results.verdicts import as_page, read_verdicts

    write_whole(results_dir / "verdicts.md", as_page(read_verdicts(results_dir)))
