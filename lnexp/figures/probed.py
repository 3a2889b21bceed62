"""Make the figures of a measurement of models: a panel for every row of the recipe's arms."""

from collections.abc import Mapping

import pandas as pd

from lnexp.errors import UserError
from lnexp.figures.line_styles import styles_of
from lnexp.figures.panels import Drawing, LineStyle, Panel, line, with_few_bands
from lnexp.recipes.recipe import Arm, Recipe

#: What a plot has columns for.
AXES = ("x", "y", "colour")
#: At most so many values along x are named one by one.
FEW = 8


def rows_with(table: pd.DataFrame, plot: dict[str, str]) -> pd.DataFrame:
    """Return the rows of ``measurements.csv`` that have what is plotted. Raises UserError where no row can."""
    columns = [plot[axis] for axis in AXES if axis in plot]
    if missing := [column for column in columns if column not in table]:
        raise UserError(f"measurements.csv: no column {missing[0]}")
    return table.dropna(subset=columns)


def probed(recipe: Recipe, table: pd.DataFrame, scope: str) -> list[Drawing]:
    """Return the figures of ``measurements.csv`` that have lines; see :mod:`lnexp.figures.heat_maps` for the others."""
    found = {name: plot for name, plot in recipe.plots.items() if "colour" not in plot}
    return [_drawing(recipe, name, plot, rows_with(table, plot), scope) for name, plot in found.items()]


def _drawing(recipe: Recipe, name: str, plot: dict[str, str], table: pd.DataFrame, scope: str) -> Drawing:
    rows, styles = recipe.rows_of(set(table["arm"])), styles_of(recipe)
    own = plot.get("y_range") == "own"
    panels = [
        _panel(styles, row, arms, plot, table, names_y=own or not number)
        for number, (row, arms) in enumerate(rows.items())
    ]
    drawn, shown = with_few_bands([panels])
    subtitle = f"{scope} · {table['seed'].nunique()} seeds: {shown}"
    height = 3 + 0.2 * max(map(len, rows.values()))
    size = 3.4 + 2 / len(rows), height
    return Drawing(name, recipe.heading, subtitle, drawn, size, max(len(rows), 2), share_y="" if own else "row")


def _panel(
    styles: Mapping[str, LineStyle],
    row: str,
    arms: list[Arm],
    plot: dict[str, str],
    table: pd.DataFrame,
    names_y: bool,
) -> Panel:
    x, y = plot["x"], plot["y"]
    means = table.groupby(["arm", "seed", x], as_index=False)[y].mean()
    by_arm = {arm.name: means[means["arm"] == arm.name] for arm in arms}
    values = sorted(table[table["arm"].isin(by_arm)][x].unique().tolist())
    few = len(values) <= FEW
    return Panel(
        title=row,
        x_label=plot.get("x_label", x),
        y_label=plot.get("y_label", y) if names_y else "",
        lines=[line(arm.label_in_row, styles[arm.label_in_row], by_arm[arm.name], x, y) for arm in arms],
        x_scale=plot.get("x_scale", "linear"),
        y_scale=plot.get("y_scale", "linear"),
        ticks=tuple(values) if few else (),
        whole=not few and all(value == round(value) for value in values),
    )
