"""Make the figure of the best score by depth: a panel a length of warm-up, a line a placement."""

import re

import pandas as pd

from lnexp.figures.line_styles import styles_of
from lnexp.figures.names import BY_DEPTH
from lnexp.figures.panels import Drawing, Panel, line, with_few_bands
from lnexp.recipes.recipe import Arm, Recipe
from lnexp.seeds import named_seeds
from lnexp.tasks import load_task

#: The axis of a recipe whose labels are layers a side, as ``6-6``.
DEPTH = "depth"
LAYERS = re.compile(r"\d+(-\d+)?", re.ASCII)


def by_depth(recipe: Recipe, runs: pd.DataFrame, scope: str) -> Drawing | None:
    """Return the figure of ``runs.csv``, of runs that are over; None for a recipe without depths that are numbers.

    Args:
        recipe: whose ``outcomes`` say which axes are the lines and the panels.
        runs: the table.
        scope: what they were trained on, in words.
    """
    if recipe.outcomes.get("columns") != DEPTH or runs.empty:
        return None
    if not all(LAYERS.fullmatch(arm.values[DEPTH]) for arm in recipe.arms.values()):
        return None
    score = load_task(recipe.task).score
    by_panel: dict[str, list[Arm]] = {}
    for arm in recipe.arms.values():
        by_panel.setdefault(arm.values[recipe.outcomes["over"]], []).append(arm)
    depths = sorted({_layers(arm) for arm in recipe.arms.values()})
    panels = [
        Panel(
            title=title,
            x_label="layers a side",
            y_label="" if number else f"best validation {score.title}",
            lines=_lines(recipe, arms, runs, score.best),
            x_scale="log",
            ticks=tuple(depths),
        )
        for number, (title, arms) in enumerate(by_panel.items())
    ]
    rows, shown = with_few_bands([panels])
    seeds = f"{named_seeds(runs['seed'])}: {shown}"
    return Drawing(BY_DEPTH, f"{recipe.heading}, by depth", f"{scope} · {seeds}", rows, (4, 3.6), 5, share_y="row")


def _lines(recipe: Recipe, arms: list[Arm], runs: pd.DataFrame, column: str) -> list:
    layers = {arm.name: _layers(arm) for arm in arms}
    label = {arm.name: arm.values[recipe.outcomes["rows"]] for arm in arms}
    table = runs[runs["arm"].isin(layers)].assign(
        layers=lambda rows: rows["arm"].map(layers), label=lambda rows: rows["arm"].map(label)
    )
    styles = styles_of(recipe)
    return [
        line(name, styles[name], table[table["label"] == name], "layers", column)
        for name in dict.fromkeys(label.values())
    ]


def _layers(arm: Arm) -> float:
    return float(arm.values[DEPTH].partition("-")[0])
