"""Make the rows of a figure by arm for the page: a dot a run, on one log scale of the final loss."""

import math
import statistics
from dataclasses import dataclass

import pandas as pd

from lnexp.figures.by_arm import diverged_of, final_losses
from lnexp.figures.line_styles import style_of
from lnexp.figures.names import drawn_by_arm
from lnexp.figures.panels import LineStyle
from lnexp.recipes.recipe import Recipe
from lnexp.result_tables import rows_over


@dataclass(frozen=True)
class DotRow:
    """An arm's runs.

    Attributes:
        label: of the arm.
        style: its colour, and whether its dots are hollow.
        mean: of the final validation nll, nats; infinite where all runs diverged.
        least, greatest: of its runs.
        places: of the runs, from 0 (the least of all arms) to 1 (the greatest); empty where all diverged.
        middle: the place of the mean.
    """

    label: str
    style: LineStyle
    mean: float
    least: float
    greatest: float
    places: list[float]
    middle: float


def dot_rows(recipe: Recipe, runs: pd.DataFrame) -> list[DotRow]:
    """Return a row an arm, the best first; none for a recipe whose curves can be told apart.

    Args:
        recipe: whose arms they are.
        runs: its ``runs.csv``; those that are not over, have no loss or diverged are left out. The label
            says how many diverged.
    """
    if not drawn_by_arm(recipe):
        return []
    over = rows_over(runs)
    finals = {arm: values.tolist() for arm, values in final_losses(over).items()}
    everything = [value for values in finals.values() for value in values]

    def place(value: float) -> float:
        low, high = math.log(min(everything)), math.log(max(everything))
        return (math.log(value) - low) / (high - low) if high > low else 0.5

    rows = []
    for arm, values in finals.items():
        states = over[over["arm"] == arm]["status"]
        label, style = recipe.arms[arm].label + diverged_of(states), style_of(recipe, recipe.arms[arm])
        if values:
            mean, places = statistics.fmean(values), [place(value) for value in values]
            rows.append(DotRow(label, style, mean, min(values), max(values), places, place(mean)))
        elif "diverged" in set(states):
            rows.append(DotRow(label, style, math.inf, math.inf, math.inf, [], 1.0))
    return sorted(rows, key=lambda row: row.mean)
