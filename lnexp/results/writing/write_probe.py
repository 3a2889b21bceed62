"""Write the folder of results of a recipe's probe: measurements, figures, verdicts and provenance."""

import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from lnexp.errors import UserError
from lnexp.figures.folder import draw_all
from lnexp.files import write_whole
from lnexp.recipes.command_line import for_readers
from lnexp.recipes.jobs import THEORY
from lnexp.recipes.load import write_copy
from lnexp.recipes.recipe import Recipe
from lnexp.result_tables import write_table
from lnexp.results.evidence.probe_result import ProbeResult, rows_table
from lnexp.results.evidence.provenance import commits_of, of_probe, recorded_plan, write_provenance
from lnexp.results.judging.claims import Origin, judge_all
from lnexp.results.judging.planned_seeds import planned_seeds
from lnexp.results.judging.verdict_file import read_verdicts, write_verdicts
from lnexp.results.pages.table_page import table_page
from lnexp.runs.environment import Environment
from lnexp.tasks import load_task


def write_probe(
    recipe: Recipe,
    results: Sequence[ProbeResult],
    data: str,
    manifest: dict[str, Any] | None,
    environment: Environment,
    options: list[str],
    results_dir: Path,
) -> Path:
    """Write measurements, table, figures and verdicts of one recipe, and return their folder.

    Args:
        recipe: the recipe.
        results: every arm with every seed.
        data: the corpus, or what stands for one.
        manifest: of the corpus; None where inputs were drawn at random.
        environment: machine and versions, as ``environment.json`` has them.
        options: of the user, beside the recipe.
        results_dir: the root of all results.
    """
    folder = results_dir / THEORY / data / recipe.name
    folder.mkdir(parents=True, exist_ok=True)
    write_copy(recipe, folder)
    table = rows_table(results)
    size = load_task(recipe.task).size_in_words(manifest) if manifest else ""
    what, command = scope(recipe, data, size, options), _command(recipe, options)
    write_table(folder / "measurements.csv", table.convert_dtypes())  # whole numbers stay whole
    commits = commits_of([environment])
    planned = planned_seeds(recipe, THEORY, commits, _plan_before(folder, recipe))
    verdicts = judge_all(recipe, results, Origin(THEORY, data, what, command, commits, planned))
    write_verdicts(folder, verdicts)
    write_provenance(folder, of_probe(manifest, environment), planned)
    write_whole(folder / "table.md", table_page(folder, recipe, results, verdicts, ()))
    draw_all(recipe, folder)
    return folder


def _plan_before(folder: Path, recipe: Recipe) -> range | None:
    """Return the seeds that were planned for the measurements that are there; None where they are of other settings."""
    try:
        settings = read_verdicts(folder / "verdicts.json").settings
    except UserError:
        return None
    return recorded_plan(folder) if settings == recipe.settings_hash(THEORY) else None


def scope(recipe: Recipe, data: str, size: str, options: list[str]) -> str:
    """Return what was probed, in words: when, corpus, how much of it, and options of the user."""
    elsewhere = ("data=", "data.path=", "data.name=", "n_seeds=", "first_seed=")
    irrelevant = ("data_dir=", "runs_dir=")
    own = [option for option in options if not option.startswith((*elsewhere, *irrelevant))]
    what = ", ".join(filter(None, (f"data {data}", size)))
    when = "after training" if recipe.is_of_trained_runs else "before training"
    return f"{when}, {what}{f', with {shlex.join(own)}' if own else ''}"


def _command(recipe: Recipe, options: list[str]) -> str:
    """Return what a reader would type for the same."""
    return f"python scripts/probe.py {shlex.join([f'+recipe={recipe.shown_reference}', *for_readers(options)])}"
