"""Figures in the paper's form: validation loss and BLEU against epoch, one line an arm, the learning rate beside."""

import textwrap
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from matplotlib import rc_context
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.backends.backend_svg import FigureCanvasSVG
from matplotlib.figure import Figure

from lnexp.recipes.recipe import Arm, Recipe

#: Okabe and Ito's palette: told apart by the colour-blind, too.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000", "#F0E442")
LINE_STYLES = ("-", "--", "-.", ":")
PANELS = {
    "valid_loss": "validation loss (nats a token)",
    "valid_bleu": "validation BLEU",
    "lr": "learning rate at its last update",
}
STYLE: Any = {"figure.dpi": 150, "svg.hashsalt": "lnexp", "font.size": 9, "axes.grid": True, "grid.alpha": 0.3}


def draw(recipe: Recipe, epochs: pd.DataFrame, subtitle: str, folder: Path) -> None:
    """Write ``figure.png`` and ``figure.svg``: each arm's mean over seeds, in a band from the least to the greatest.

    Without an epoch there is no figure, and an old one is removed.
    """
    paths = folder / "figure.png", folder / "figure.svg"
    if epochs.empty:
        for path in paths:
            path.unlink(missing_ok=True)
        return
    by_arm = dict(list(epochs.groupby("arm")))
    rows = rows_of(recipe)
    with rc_context(STYLE):
        size = (12, 1.4 + 3 * len(rows))
        figure = Figure(figsize=size, layout="constrained")
        axes = figure.subplots(len(rows), len(PANELS), squeeze=False)
        for (row, arms), row_axes in zip(rows.items(), axes, strict=True):
            for axis, (column, title) in zip(row_axes, PANELS.items(), strict=True):
                for position, arm in enumerate(arms):
                    if arm.name in by_arm:
                        draw_arm(axis, by_arm[arm.name], "epoch", column, label_in_row(arm), position)
                axis.set(xlabel="epoch", title=f"{row}\n{title}" if row else title)
                axis.xaxis.get_major_locator().set_params(integer=True)
        figure.suptitle(f"{recipe.figure}: {recipe.title}\n{textwrap.fill(subtitle, 150)}", fontsize=10)
        add_legend(figure, columns=3)
        save(figure, folder)


def rows_of(recipe: Recipe) -> dict[str, list[Arm]]:
    """The arms by the row of the figure that they are drawn in."""
    rows: dict[str, list[Arm]] = {}
    for arm in recipe.arms.values():
        rows.setdefault(arm.row, []).append(arm)
    return rows


def label_in_row(arm: Arm) -> str:
    """What tells an arm from the others of its row."""
    return arm.label.removeprefix(f"{arm.row}, ")


def draw_arm(axis: Any, table: pd.DataFrame, x: str, y: str, label: str, position: int) -> None:
    """An arm's line, the ``position``-th of its axes: the mean over seeds, in a band from the least to the greatest."""
    colour = COLOURS[position % len(COLOURS)]
    style = LINE_STYLES[(position + position // len(COLOURS)) % len(LINE_STYLES)]  # others, where colours come again
    by_x = table.groupby(x)[y]
    mean = by_x.mean()
    axis.plot(mean.index, mean, label=label, color=colour, linestyle=style, marker="o", markersize=3)
    axis.fill_between(mean.index, by_x.min(), by_x.max(), color=colour, alpha=0.15, linewidth=0)


def evenly_spaced(values: list[float], most: int) -> list[float]:
    """At most so many of the values, the first and the last among them."""
    return [values[round(place)] for place in np.linspace(0, len(values) - 1, min(len(values), most))]


def save(figure: Figure, folder: Path, name: str = "figure") -> None:
    """Write ``NAME.png`` and ``NAME.svg``, the same bytes for the same figure."""
    figure.draw_without_rendering()
    figure.set_layout_engine("none")  # everything has its place now; savefig would draw all of it four times more
    FigureCanvasAgg(figure).print_png(folder / f"{name}.png", metadata={"Software": None})
    FigureCanvasSVG(figure).print_svg(folder / f"{name}.svg", metadata={"Date": None})


def add_legend(figure: Figure, columns: int) -> None:
    """One legend for all axes, each label once, in at most so many columns."""
    lines = {str(line.get_label()): line for axis in figure.axes for line in axis.get_lines()}
    figure.legend(
        list(lines.values()), list(lines), loc="outside lower center", ncols=min(columns, len(lines)), frameon=False
    )
