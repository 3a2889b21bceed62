"""Classify arms by whether they train without warm-up: a word for every two arms that differ in warm-up alone."""

import statistics
from collections.abc import Iterator, Sequence
from typing import Any

import pandas as pd

from lnexp.recipes.recipe import Recipe
from lnexp.results.evidence.contract import CountedRun
from lnexp.results.measures.success import Scores, line_of, scores_by_arm, succeeds
from lnexp.tasks import load_task

#: By whether most runs train without warm-up and with it.
WORDS = {(True, True): "trains", (False, True): "needs warm-up", (True, False): "only without warm-up"}


def outcomes_table(recipe: Recipe, runs: Sequence[CountedRun]) -> pd.DataFrame:
    """Return ``outcomes.csv``: a row for every two arms that differ in warm-up alone, where runs of both are over.

    Columns are the recipe's two axes, ``outcome``, and for either arm (``_without``, ``_with``) its mean best score,
    how many runs are over, how many of them train and how many diverged.
    """
    scores = scores_by_arm(recipe, runs)
    line = line_of(recipe, scores)
    complete = (pair for pair in _pairs(recipe) if all(scores.get(arm) for arm in pair))
    return pd.DataFrame([_row(recipe, pair, scores, line) for pair in complete])


def _pairs(recipe: Recipe) -> Iterator[tuple[str, str]]:
    """Yield each arm without warm-up and its counterpart with it: the first and the last on the axis ``over``."""
    over = recipe.outcomes["over"]
    alike: dict[tuple[str, ...], list[str]] = {}
    for arm in recipe.arms.values():
        rest = tuple(value for axis, value in arm.values.items() if axis != over)
        alike.setdefault(rest, []).append(arm.name)
    for arms in alike.values():
        yield arms[0], arms[-1]


def _row(recipe: Recipe, pair: tuple[str, str], scores: Scores, line: float) -> dict[str, Any]:
    name_of_score = load_task(recipe.task).score.name
    measured: dict[str, Any] = {}
    majority = []
    for name, arm in zip(("without", "with"), pair, strict=True):
        mine = scores[arm]
        trained = sum(succeeds(score, diverged, line) for score, diverged in mine)
        majority.append(trained > len(mine) / 2)
        measured |= {
            f"{name_of_score}_{name}": statistics.fmean(score for score, _ in mine),
            f"runs_{name}": len(mine),
            f"trained_{name}": trained,
            f"diverged_{name}": sum(diverged for _, diverged in mine),
        }
    diverged = any(2 * measured[f"diverged_{name}"] > measured[f"runs_{name}"] for name in ("without", "with"))
    fails = "diverges" if diverged else "fails"
    values = recipe.arms[pair[0]].values
    where = {recipe.outcomes[part]: values[recipe.outcomes[part]] for part in ("rows", "columns")}
    return {**where, "outcome": WORDS.get((majority[0], majority[1]), fails), **measured}
