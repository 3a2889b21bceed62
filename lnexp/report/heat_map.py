"""Make the heat map of a recipe with many axes: the mean best score of every arm."""

import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from lnexp.recipes.recipe import Recipe
from lnexp.runs.status import DONE
from lnexp.tasks import load_task
from lnexp.tasks.contract import Score

#: Fewer make no map.
LEAST_AXES = 3


@dataclass(frozen=True)
class HeatMap:
    """Mean best validation scores over seeds.

    Attributes:
        score: whose values they are.
        rows, columns: their labels.
        values: by row and column; None where no run is over.
    """

    score: Score
    rows: list[str]
    columns: list[str]
    values: list[list[float | None]]


def heat_map(recipe: Recipe, runs: Sequence[dict[str, Any]]) -> HeatMap | None:
    """Return the heat map of a recipe; None for one with few axes.

    Args:
        recipe: the first half of whose axes make the rows, and the others the columns.
        runs: the rows of its ``runs.csv``.
    """
    axes = list(next(iter(recipe.arms.values())).values)
    if len(axes) < LEAST_AXES:
        return None
    score = load_task(recipe.task).score
    half = len(axes) // 2
    found: dict[str, dict[str, float | None]] = {}
    columns: dict[str, None] = {}
    for arm in recipe.arms.values():
        row, column = (", ".join(arm.values[axis] for axis in part) for part in (axes[:half], axes[half:]))
        columns[column] = None
        found.setdefault(row, {})[column] = _mean_of(arm.name, score.best, runs)
    values = [[found[row].get(column) for column in columns] for row in found]
    return HeatMap(score, list(found), list(columns), values)


def _mean_of(arm: str, column: str, runs: Sequence[dict[str, Any]]) -> float | None:
    over = [run[column] for run in runs if run["arm"] == arm and run["status"] in DONE]
    measured = [value for value in over if value is not None]
    return statistics.fmean(measured) if measured else None
