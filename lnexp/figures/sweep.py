"""Draw a sweep over rates and lengths of warm-up: heat maps, lr sensitivity, the shortest warm-up, and a ranking."""

import math
import statistics
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from matplotlib import rc_context
from matplotlib.colors import LogNorm
from matplotlib.figure import Figure

from lnexp.figures.draw import STYLE, add_title, as_text, axes_for, name_few, save
from lnexp.figures.heat_maps import ACROSS, COLOURS
from lnexp.figures.line_styles import styles_by
from lnexp.figures.names import SWEEP
from lnexp.figures.panels import LineStyle
from lnexp.recipes.grid import Grid, grid_of
from lnexp.recipes.recipe import Recipe
from lnexp.result_tables import rows_over
from lnexp.results.measures.sweep_measures import SweepResults, finals_of_table, none_is_enough
from lnexp.results.measures.sweep_summary import (
    Cell,
    PlacementSummary,
    length_in_words,
    mark_in_words,
    not_shown,
    summaries_of,
)
from lnexp.seeds import named_seeds
from lnexp.tasks import load_task

#: Cells that are light have dark letters.
LIGHT = 0.5
DOT, HOLLOW = 5, "white"
#: How far the dots of the shortest and of the longest warm-up lie from the middle of their row.
SHIFTS = (0.12, -0.12)


@dataclass(frozen=True)
class Swept:
    """What the figures show.

    Attributes:
        grid: of the recipe.
        summaries: of placements, the one that reaches the lowest nll first.
        styles: of placements, by name.
        heading: above every figure.
        scope: under it.
        unit: of losses.
    """

    grid: Grid
    summaries: Sequence[PlacementSummary]
    styles: Mapping[str, LineStyle]
    heading: str
    scope: str
    unit: str

    @property
    def ends(self) -> tuple[str, str]:
        """The names of the shortest and of the longest warm-up."""
        names = list(self.grid.warmups)
        return names[0], names[-1]


def draw_sweep(recipe: Recipe, runs: pd.DataFrame, scope: str, folder: Path) -> list[str]:
    """Write the figures of ``runs.csv`` into a folder, and return their names; none before all arms have a run.

    Args:
        recipe: one with a sweep.
        runs: the table.
        scope: what they were trained on, in words.
        folder: of results.
    """
    swept = swept_of(recipe, runs, scope)
    if swept is None:
        return []
    with rc_context(STYLE):
        for name, make in FIGURES.items():
            save(make(swept), folder, name)
    return list(FIGURES)


def swept_of(recipe: Recipe, runs: pd.DataFrame, scope: str) -> Swept | None:
    """Return what the figures of ``runs.csv`` show; None before all arms have a run."""
    grid = grid_of(recipe)
    results = SweepResults(grid, finals_of_table(grid, runs))
    summaries = summaries_of(results)
    if results.line is None or not summaries:
        return None
    seeds = named_seeds(rows_over(runs)["seed"])
    good = f"good is a final validation nll below {results.line:.2f}"
    text = " · ".join(
        filter(None, (scope, seeds, good, mark_in_words(grid), not_shown(results, summaries).rstrip(".")))
    )
    return Swept(grid, summaries, _styles(recipe, grid), recipe.heading, text, load_task(recipe.task).loss_unit)


def _styles(recipe: Recipe, grid: Grid) -> dict[str, LineStyle]:
    """Return a style for each placement, by its name."""
    rate, warmup = next(iter(grid.rates)), list(grid.warmups)[-1]
    return styles_by(recipe, {grid.arm(name, rate, warmup): name for name in grid.labels})


def heat_maps(swept: Swept) -> Figure:
    """Return a heat map a placement, its rates by its warm-ups, all in one scale."""
    across, grid = min(ACROSS, len(swept.summaries)), swept.grid
    down = math.ceil(len(swept.summaries) / across)
    figure = Figure(figsize=(1.2 + 2.9 * across, 1.2 + (0.8 + 0.26 * len(grid.warmups)) * down), layout="constrained")
    axes = axes_for(figure, len(swept.summaries), across)
    least = min(cell.mean for one in swept.summaries for of in one.cells.values() for cell in of.values())
    norm = LogNorm(least, grid.sweep.initial_nll)
    for place, (one, axis) in enumerate(zip(swept.summaries, axes, strict=True)):
        shown = _draw_map(axis, one, grid, norm)
        axis.set_yticks(range(len(grid.warmups)), _lengths(grid) if place % across == 0 else [])
        axis.set(ylabel="T_warmup" if place % across == 0 else "", xlabel="lr_max")
    bar = figure.colorbar(shown, ax=axes, label=f"final validation nll,\n{swept.unit}", shrink=0.8)
    name_few(bar.ax.yaxis, bar.ax.get_ylim())
    add_title(figure, swept.heading, f"{swept.scope} · in cells the mean, or how many runs are good; ×: none")
    return figure


def _draw_map(axis: Any, one: PlacementSummary, grid: Grid, norm: LogNorm) -> Any:
    cells = [list(of.values()) for of in one.cells.values()]
    values = np.array([[cell.mean for cell in row] for row in cells])
    shown = axis.imshow(values, cmap=COLOURS, norm=norm, aspect="auto")
    for row, column in np.ndindex(values.shape):
        colour = "black" if norm(values[row, column]) < LIGHT else "white"
        axis.text(column, row, _in_cell(cells[row][column]), ha="center", va="center", fontsize=6, color=colour)
    axis.set_xticks(range(len(grid.rates)), [short_number(rate) for rate in grid.rates.values()], fontsize=6)
    axis.set_title(as_text(one.label))
    axis.grid(visible=False)
    return shown


def _in_cell(cell: Cell) -> str:
    """Return the mean nll where all runs are good, a cross where none is, and else how many are."""
    if not cell.good:
        return "×"
    return f"{cell.mean:.2f}".lstrip("0") if cell.good == len(cell.nll) else f"{cell.good}/{len(cell.nll)}"


def short_number(value: float) -> str:
    """Return a number as short as can be, as ``5e-4``."""
    mantissa, exponent = f"{value:.5e}".split("e")
    return f"{float(mantissa):g}e{int(exponent)}"


def _lengths(grid: Grid) -> list[str]:
    return [f"{length:g}" for length in grid.warmups.values()]


def sensitivities(swept: Swept) -> Figure:
    """Return lr sensitivity with and without warm-up: a row a placement, a dot a seed."""
    without, longest = swept.ends
    order = sorted(swept.summaries, key=lambda one: -_mean(one.sensitivity[without]))
    figure = Figure(figsize=(6.4, 1.6 + 0.28 * len(order)), layout="constrained")
    axis = figure.subplots()
    _name_rows(axis, order)
    for row, one in enumerate(order):
        _draw_dots(axis, row, swept.styles[one.name], one.sensitivity[without], one.sensitivity[longest])
        for end, shift in zip(swept.ends, SHIFTS, strict=True):
            if not one.good_at(end):
                failing = list(one.sensitivity[end].values())
                axis.plot(failing, [row + shift] * len(failing), "x", color="black", markersize=4)
    axis.set(xlabel=f"lr sensitivity, {swept.unit}", xlim=(0, None))
    said = f"{_legend(swept)}, crossed: at no rate are most runs good, so that the value says little"
    add_title(figure, f"{swept.heading}: lr sensitivity", f"{swept.scope} · {said}")
    return figure


def ranking(swept: Swept) -> Figure:
    """Return placements by what they reach at their best rate, and at how many rates a run is good."""
    without, longest = swept.ends
    order = list(reversed(swept.summaries))
    figure = Figure(figsize=(8.4, 1.6 + 0.28 * len(order)), layout="constrained")
    left, right = figure.subplots(1, 2, sharey=True)
    rates = len(swept.grid.rates)
    for row, one in enumerate(order):
        style = swept.styles[one.name]
        _draw_dots(left, row, style, one.tuned[without], one.tuned[longest])
        ends = [{0: one.width(warmup) or 0} for warmup in swept.ends]
        _draw_dots(right, row, style, *ends)
    _name_rows(left, order)
    left.set(xlabel=f"final nll at the best rate, {swept.unit} (log scale)", xscale="log")
    name_few(left.xaxis, left.get_xlim())
    right.set(xlabel=f"rates at which a run is good, of {rates}, mean over seeds", xlim=(-0.2, rates + 0.2))
    said = f"{_legend(swept)}; ordered by the best of all lengths; neighbours need not differ: seeds chose the rates"
    add_title(figure, f"{swept.heading}: each placement at its best rate", f"{swept.scope} · {said}")
    return figure


def _name_rows(axis: Any, order: Sequence[PlacementSummary]) -> None:
    axis.set_yticks(range(len(order)), [one.label for one in order])
    axis.set_ylim(-0.5, len(order) - 0.5)


def _legend(swept: Swept) -> str:
    shortest, *_, longest = swept.grid.warmups.values()
    return f"hollow: T_warmup = {shortest:g}, filled: {longest:g}"


def _draw_dots(
    axis: Any, row: int, style: LineStyle, without: Mapping[int, float], longest: Mapping[int, float]
) -> None:
    """Draw a dot a value, hollow without warm-up, and a line between the means."""
    axis.plot([_mean(without), _mean(longest)], [row, row], color=style.colour, linewidth=1, alpha=0.6)
    for values, face, shift in zip((without, longest), (HOLLOW, style.colour), SHIFTS, strict=True):
        rows = [row + shift] * len(values)
        axis.plot(
            list(values.values()), rows, "o", color=style.colour, markerfacecolor=face, markersize=DOT, clip_on=False
        )


def _mean(values: Mapping[int, float]) -> float:
    return sum(values.values()) / len(values)


def shortest_warmups(swept: Swept) -> Figure:
    """Return the shortest warm-up that is enough by rate: a row a placement, coloured by the median over seeds, with
    the least and the greatest in words.
    """
    grid = swept.grid
    levels = {length: level for level, length in enumerate([*grid.warmups.values(), none_is_enough(grid)])}
    medians = [
        [statistics.median(levels[length] for length in of.values()) for of in one.shortest.values()]
        for one in swept.summaries
    ]
    figure = Figure(figsize=(max(2 + 0.95 * len(grid.rates), 7), 2.1 + 0.32 * len(medians)), layout="constrained")
    axis = figure.subplots()
    axis.imshow(medians, cmap=COLOURS, vmin=0, vmax=len(levels) - 1, aspect="auto")
    for row, one in enumerate(swept.summaries):
        for column, of in enumerate(one.shortest.values()):
            colour = "black" if medians[row][column] < LIGHT * (len(levels) - 1) else "white"
            words = length_in_words(grid, of.values())
            axis.text(column, row, words, ha="center", va="center", fontsize=6, color=colour)
    axis.set_xticks(range(len(grid.rates)), [short_number(rate) for rate in grid.rates.values()])
    axis.set_yticks(range(len(swept.summaries)), [one.label for one in swept.summaries])
    axis.set(xlabel="lr_max")
    axis.grid(visible=False)
    enough = (
        f"in updates, of {', '.join(_lengths(grid))}; enough: within {grid.sweep.within:g} nats of the best length at"
        " that rate, if that one is good; where seeds differ the least and the greatest, coloured by the median"
    )
    add_title(figure, f"{swept.heading}: the shortest warm-up that is enough", f"{swept.scope} · {enough}")
    return figure


#: The figures by the names of their files.
FIGURES: dict[str, Callable[[Swept], Figure]] = dict(
    zip(SWEEP, (heat_maps, sensitivities, shortest_warmups, ranking), strict=True)
)
