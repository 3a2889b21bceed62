"""Draw what a probe measures of pairs, as of a sublayer and a later block: a heat map an arm, all in one scale."""

import math
from pathlib import Path
from typing import Any

import pandas as pd
from matplotlib import rc_context
from matplotlib.colors import LogNorm, Normalize
from matplotlib.figure import Figure
from pandas.api.types import is_integer_dtype

from lnexp.errors import UserError
from lnexp.figures.draw import STYLE, add_title, as_text, axes_for, name_few, save
from lnexp.figures.probed import rows_with
from lnexp.recipes.recipe import Recipe
from lnexp.seeds import named_seeds

#: Heat maps beside each other.
ACROSS = 4
#: Low is light.
COLOURS = "viridis_r"
#: Inches of a map, and of what is beside and above all of them.
SIDE, WIDER, HIGHER = 2.3, 1.2, 1.3


def draw_heat_maps(recipe: Recipe, table: pd.DataFrame, scope: str, folder: Path) -> list[str]:
    """Write the plots of a recipe that have a ``colour`` into a folder, and return their names.

    Args:
        recipe: of a measurement.
        table: ``measurements.csv``.
        scope: what was measured, in words.
        folder: of results.
    """
    found = {name: plot for name, plot in recipe.plots.items() if "colour" in plot}
    with rc_context(STYLE):
        for name, plot in found.items():
            save(heat_maps(recipe, plot, rows_with(table, plot), scope), folder, name)
    return list(found)


def heat_maps(recipe: Recipe, plot: dict[str, str], table: pd.DataFrame, scope: str) -> Figure:
    """Return a heat map an arm: x to the right, y down, and the colour's mean over seeds; white where there is none, or
    none above zero on a logarithmic scale.

    Raises:
        UserError: where x or y are no whole numbers, or everything would be white.
    """
    x, y, colour = plot["x"], plot["y"], plot["colour"]
    if not all(is_integer_dtype(table[column]) for column in (x, y)):
        raise UserError(f"plot: {x} and {y} of a heat map must be whole numbers")
    means = table.groupby(["arm", y, x])[colour].mean()
    scale = LogNorm if plot.get("colour_scale") == "log" else Normalize
    if scale is LogNorm:
        means = means.where(means > 0)
    if means.isna().all():
        raise UserError(f"plot: no row has {x}, {y} and {colour}{' above zero' if scale is LogNorm else ''}")
    norm = scale(means.min(), means.max())
    arms = [arm for arm in recipe.arms.values() if arm.name in means.index]
    across = min(ACROSS, len(arms))
    size = WIDER + SIDE * across, HIGHER + SIDE * math.ceil(len(arms) / across)
    figure = Figure(figsize=size, layout="constrained")
    axes = axes_for(figure, len(arms), across)
    for place, (arm, axis) in enumerate(zip(arms, axes, strict=True)):
        shown = _draw(axis, means[arm.name].unstack(), norm)
        axis.set(title=as_text(arm.label), xlabel=as_text(plot.get("x_label", x)))
        axis.set_ylabel(as_text(plot.get("y_label", y)) if place % across == 0 else "")
    bar = figure.colorbar(shown, ax=axes, label=as_text(plot.get("colour_label", colour)), shrink=0.8)
    if scale is LogNorm:
        name_few(bar.ax.yaxis, bar.ax.get_ylim())
    add_title(figure, recipe.heading, f"{scope} · {named_seeds(table['seed'])}: means")
    return figure


def _draw(axis: Any, means: pd.DataFrame, norm: Normalize) -> Any:
    """Draw a table of means by rows and columns; numbers that it leaves out have a white row or column."""
    rows, columns = (range(int(numbers.min()), int(numbers.max()) + 1) for numbers in (means.index, means.columns))
    extent = (columns[0] - 0.5, columns[-1] + 0.5, rows[-1] + 0.5, rows[0] - 0.5)
    shown = axis.imshow(means.reindex(index=rows, columns=columns), cmap=COLOURS, norm=norm, extent=extent)
    for one in (axis.xaxis, axis.yaxis):
        one.get_major_locator().set_params(integer=True)
    axis.grid(visible=False)
    return shown
