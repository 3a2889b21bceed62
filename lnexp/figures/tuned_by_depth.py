"""Make the figure of what placements reach at their own best rate, by depth: a panel a length of warm-up, a line a
placement.
"""

import re
from collections.abc import Mapping

import pandas as pd

from lnexp.figures.by_depth import LAYERS
from lnexp.figures.line_styles import styles_by
from lnexp.figures.names import BY_DEPTH
from lnexp.figures.panels import Drawing, Panel, line, with_few_bands
from lnexp.recipes.grid import Grid, grid_of
from lnexp.recipes.recipe import Recipe
from lnexp.result_tables import rows_over
from lnexp.results.measures.sweep_measures import SweepResults, finals_of_table
from lnexp.results.measures.sweep_summary import MARK, mark_in_words
from lnexp.seeds import named_seeds
from lnexp.tasks import load_task

#: What a row of a sweep is called whose placement has a depth, as ``Post-LN 6-6``.
WITH_DEPTH = re.compile(rf"(?P<placement>.+) (?P<layers>{LAYERS.pattern})", re.ASCII)


def tuned_by_depth(recipe: Recipe, runs: pd.DataFrame, scope: str) -> Drawing | None:
    """Return the figure of ``runs.csv``; None for a recipe that is no sweep of placements with depths, and before all
    arms of a placement have a run.

    Args:
        recipe: the recipe.
        runs: the table.
        scope: what they were trained on, in words.
    """
    if recipe.sweep is None or not (placements := _placements(grid := grid_of(recipe))):
        return None
    table = _table(grid, runs, placements)
    if table.empty:
        return None
    axis = recipe.outcomes["rows"]
    styles = styles_by(recipe, {name: placements[arm.keys[axis]][0] for name, arm in recipe.arms.items()})
    panels = [
        Panel(
            title=label,
            x_label="layers a side",
            y_label="" if number else f"final nll at its best rate, {load_task(recipe.task).loss_unit}",
            lines=[
                line(name, style, table[(table["placement"] == name) & (table["warmup"] == warmup)], "layers", "nll")
                for name, style in styles.items()
            ],
            x_scale="log",
            ticks=tuple(sorted(table["layers"].unique())),
        )
        for number, (warmup, label) in enumerate(grid.warmup_labels.items())
    ]
    rows, shown = with_few_bands([panels])
    subtitle = " · ".join(
        filter(None, (scope, f"{named_seeds(rows_over(runs)['seed'])}: {shown}", mark_in_words(grid)))
    )
    return Drawing(BY_DEPTH, f"{recipe.heading}: by depth", subtitle, rows, (4, 3.6), 5, share_y="row")


def _placements(grid: Grid) -> dict[str, tuple[str, float]]:
    """Return the placement and the layers a side of each row of a grid; empty where a row has no depth."""
    found = {name: WITH_DEPTH.fullmatch(label) for name, label in grid.labels.items()}
    named = {
        name: (match["placement"] + MARK * (name in grid.sweep.other_rate), float(match["layers"].partition("-")[0]))
        for name, match in found.items()
        if match
    }
    return named if len(named) == len(found) else {}


def _table(grid: Grid, runs: pd.DataFrame, placements: Mapping[str, tuple[str, float]]) -> pd.DataFrame:
    """Return the final nll of every row, length of warm-up and seed, each at its best rate."""
    results = SweepResults(grid, finals_of_table(grid, runs))
    rows = [
        {"placement": placement, "layers": layers, "warmup": warmup, "nll": nll}
        for name, (placement, layers) in placements.items()
        for warmup in grid.warmups
        for nll in results.measure("tuned_nll", grid.set_name(rows=name, over=warmup)).values()
    ]
    return pd.DataFrame(rows, columns=["placement", "layers", "warmup", "nll"])
