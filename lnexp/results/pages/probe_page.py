"""Make what ``table.md`` says of a probe's measurements."""

from pathlib import Path

import pandas as pd
from tabulate import tabulate

from lnexp.figures.panels import evenly_spaced
from lnexp.figures.probed import rows_with
from lnexp.numerics import numerics_of
from lnexp.recipes.recipe import Arm, Recipe
from lnexp.result_tables import read_table
from lnexp.results.evidence.made_with import commit_name
from lnexp.results.evidence.provenance import read_provenance
from lnexp.results.statistics.intervals import interval
from lnexp.runs.environment import Environment

MOST_COLUMNS = 8  # of the table for people; the whole is in measurements.csv


def probe_page(recipe: Recipe, folder: Path, scope: str) -> list[str]:
    """Return the parts of the page before its command.

    Args:
        recipe: what was probed.
        folder: of results, with ``measurements.csv`` and ``provenance.json``.
        scope: what was probed, in words.
    """
    x, y = recipe.plot["x"], recipe.plot["y"]
    shown = rows_with(table := read_table(folder / "measurements.csv"), recipe.plot)
    return [
        f"# {recipe.heading}",
        f"{scope[0].upper()}{scope[1:]}. Source: {recipe.source}. {recipe.reading}",
        f"`{y}` by `{x}`: mean over seeds ({table['seed'].nunique()}) with its 95% interval (Student's t).",
        *(_table_of_row(shown, row, arms, x, y) for row, arms in recipe.rows_of(set(shown["arm"])).items()),
        *(f"![{_called(plot)}]({name}.png)" for name, plot in recipe.plots.items()),
        *map(_where, read_provenance(folder).environments),
    ]


def _called(plot: dict[str, str]) -> str:
    """Return what a plot shows, for people."""
    shown = "colour" if "colour" in plot else "y"
    return plot.get(f"{shown}_label", plot[shown])


def _where(environment: Environment) -> str:
    state = environment.get("git", {})
    commit = commit_name(state) if state.get("commit") else "–"
    return (
        f"Device: {environment['cpu']}, {environment['device']}. Commit (* with changes on top): {commit}."
        f" Numerics: {numerics_of(environment)}."
    )


def _table_of_row(table: pd.DataFrame, row: str, arms: list[Arm], x: str, y: str) -> str:
    """Return a row of the figure as a Markdown table of its arms, with :data:`MOST_COLUMNS` values along x at most."""
    along: dict[str, dict[float, list[float]]] = {}
    means = table.groupby(["arm", x, "seed"], as_index=False)[y].mean()
    for arm, value, measured in zip(*(means[column].tolist() for column in ("arm", x, y)), strict=True):
        along.setdefault(arm, {}).setdefault(value, []).append(measured)
    of_arms = {arm.name: along.get(arm.name, {}) for arm in arms}
    shown = evenly_spaced(sorted(set().union(*of_arms.values())), MOST_COLUMNS)
    lines = [
        [f"{arm.label_in_row} (`{arm.name}`)", *(_mean(of_arms[arm.name].get(value, [])) for value in shown)]
        for arm in arms
    ]
    headers = [row, *(f"{x} {value:g}" for value in shown)]
    return tabulate(lines, headers=headers, tablefmt="github")


def _mean(values: list[float]) -> str:
    found = interval(values)
    return str(found) if found else "–"
