"""Draw the final loss of every run, a row an arm: for a recipe with more arms than curves can be told apart."""

import math
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pandas as pd
from matplotlib import rc_context
from matplotlib.figure import Figure

from lnexp.figures.draw import MARKERS, STYLE, add_title, name_few, save
from lnexp.figures.line_styles import style_of
from lnexp.figures.names import BY_ARM, drawn_by_arm
from lnexp.recipes.recipe import Recipe
from lnexp.seeds import named_seeds
from lnexp.tasks import load_task


def diverged_of(states: Iterable[str]) -> str:
    """Return how many runs of an arm diverged, as `` (2 of 6 diverged)``; empty for none."""
    every = list(states)
    count = every.count("diverged")
    return f" ({count} of {len(every)} diverged)" if count else ""


def final_losses(runs: pd.DataFrame) -> dict[str, pd.Series]:
    """Return the final validation nlls of each arm's runs, without those that diverged.

    Args:
        runs: the rows of ``runs.csv`` of runs that are over.
    """
    ended = runs[runs["status"] != "diverged"]
    return {arm: ended[ended["arm"] == arm]["last_valid_nll"].dropna() for arm in dict.fromkeys(runs["arm"])}


def draw_by_arm(recipe: Recipe, runs: pd.DataFrame, scope: str, folder: Path) -> list[str]:
    """Write the figure of ``runs.csv`` into a folder, the best arm on top, and return its name; none without runs.

    Args:
        recipe: whose arms they are.
        runs: the table, of runs that are over.
        scope: what they were trained on, in words.
        folder: of results.
    """
    if not drawn_by_arm(recipe) or runs.empty:
        return []
    with rc_context(STYLE):
        save(by_arm(recipe, runs, scope), folder, BY_ARM)
    return [BY_ARM]


def by_arm(recipe: Recipe, runs: pd.DataFrame, scope: str) -> Figure:
    """Return the figure: a dot a seed, and a stroke at the mean; placements by colour, no warm-up hollow. A run that
    diverged has no dot, and its arm says so.
    """
    finals = final_losses(runs)
    worst_first = sorted(finals, key=lambda arm: -finals[arm].mean() if len(finals[arm]) else -math.inf)
    figure = Figure(figsize=(7.6, 1.6 + 0.28 * len(finals)), layout="constrained")
    axis: Any = figure.subplots()
    for row, arm in enumerate(worst_first):
        style = style_of(recipe, recipe.arms[arm])
        marker, face = MARKERS[style.marker]
        rows = [row] * len(finals[arm])
        axis.plot(finals[arm], rows, marker, color=style.colour, markerfacecolor=face or style.colour, markersize=5)
        axis.plot([finals[arm].mean()], [row], "|", color=style.colour, markersize=14)
    labels = [recipe.arms[arm].label + diverged_of(runs[runs["arm"] == arm]["status"]) for arm in worst_first]
    axis.set_yticks(range(len(worst_first)), labels)
    axis.set(xlabel=f"final validation nll, {load_task(recipe.task).loss_unit}", xscale="log")
    name_few(axis.xaxis, axis.get_xlim())
    said = "a dot a seed, hollow without warm-up of the rate; strokes are means"
    add_title(figure, recipe.heading, f"{scope} · {named_seeds(runs['seed'])}: {said}")
    return figure
