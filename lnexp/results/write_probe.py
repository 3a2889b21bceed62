"""Write the folder of results of a recipe's probe: measurements, figures, verdicts and provenance."""

import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pandas as pd
from tabulate import tabulate

from lnexp.figures.folder import draw_all
from lnexp.figures.panels import evenly_spaced
from lnexp.figures.probed import plots, rows_with
from lnexp.files import write_whole
from lnexp.numerics import numerics_of
from lnexp.published import write_table
from lnexp.recipes.command_line import for_readers
from lnexp.recipes.load import write_copy
from lnexp.recipes.recipe import THEORY, Arm, Recipe
from lnexp.results.claims import Origin, judge_all
from lnexp.results.intervals import interval
from lnexp.results.made_with import commit_name
from lnexp.results.planned_seeds import planned_seeds
from lnexp.results.probe_result import ProbeResult, rows_table
from lnexp.results.provenance import commits_of, of_probe, write_provenance
from lnexp.results.verdict_file import write_verdicts
from lnexp.results.verdict_pages import with_verdicts
from lnexp.runs.environment import Environment
from lnexp.tasks import load_task

MOST_COLUMNS = 8  # of the table for people; the whole is in measurements.csv


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
    planned = planned_seeds(recipe, THEORY, commits)
    verdicts = judge_all(recipe, results, Origin(THEORY, data, what, command, commits, planned))
    write_verdicts(folder, verdicts)
    page = _page(recipe, table, what, _where(environment), command)
    write_whole(folder / "table.md", with_verdicts(page, verdicts, folder))
    write_provenance(folder, of_probe(manifest, environment), planned)
    draw_all(recipe, folder)
    return folder


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
    return f"python scripts/probe.py {shlex.join([f'+recipe={recipe.name}', *for_readers(options)])}"


def _page(recipe: Recipe, table: pd.DataFrame, what: str, where: str, command: str) -> str:
    x, y = recipe.plot["x"], recipe.plot["y"]
    shown = rows_with(table, recipe.plot)
    parts = [
        f"# {recipe.heading}",
        f"{what[0].upper()}{what[1:]}. Source: {recipe.source}. {recipe.reading}",
        f"`{y}` by `{x}`: mean over seeds ({table['seed'].nunique()}) with its 95% interval (Student's t).",
        *(_table_of_row(shown, row, arms, x, y) for row, arms in recipe.rows_of(set(shown["arm"])).items()),
        *(f"![{plot.get('y_label', plot['y'])}]({name}.png)" for name, plot in plots(recipe).items()),
        where,
        f"```\n{command}\n```",
    ]
    return "\n\n".join(parts) + "\n"


def _where(environment: Environment) -> str:
    state = environment["git"]
    commit = commit_name(state) if state["commit"] else "–"
    return (
        f"Device: {environment['cpu']}, {environment['device']}. Commit (* with changes on top): {commit}."
        f" Numerics: {numerics_of(environment)}."
    )


def _table_of_row(table: pd.DataFrame, row: str, arms: list[Arm], x: str, y: str) -> str:
    """Return a row of the figure as a Markdown table of its arms, with :data:`MOST_COLUMNS` values along x at most."""
    by_arm = dict(list(table.groupby("arm")))
    values = sorted(by_arm[arms[0].name][x].unique())
    shown = evenly_spaced(values, MOST_COLUMNS)
    lines = [
        [f"{arm.label_in_row} (`{arm.name}`)"]
        + [str(interval(list(by_arm[arm.name].query(f"{x} == {value}")[y]))) for value in shown]
        for arm in arms
    ]
    headers = [row, *(f"{x} {value:g}" for value in shown)]
    return tabulate(lines, headers=headers, tablefmt="github")
