"""Classify arms by whether they train without warm-up: a word for every two arms that differ in warm-up alone."""

import statistics
from collections.abc import Iterator, Sequence
from typing import Any

import pandas as pd
from tabulate import tabulate

from lnexp.recipes.recipe import Recipe
from lnexp.results.evidence.contract import CountedRun
from lnexp.results.statistics.success import Scores, best_mean, line_of, scores_by_arm, succeeds, success_of
from lnexp.tasks import load_task
from lnexp.tasks.contract import Score

#: By whether most runs train without warm-up and with it.
WORDS = {(True, True): "trains", (False, True): "needs warm-up", (True, False): "only without warm-up"}

EXPLANATION = """\
A run trains if its {measure} is more than {share} of {best}, that of the best arm,{floor} and it does not diverge. \
A cell says of a {row} and a {column} what most runs do, without warm-up and with {length}: *trains*; *needs warm-up*; \
*only without warm-up*; *fails*; *diverges* (fails, and most runs without warm-up or most with it end in a loss that \
is no number). Behind it mean {title} without / with warm-up, and where runs do not agree how many train."""


def outcomes_table(recipe: Recipe, runs: Sequence[CountedRun]) -> pd.DataFrame:
    """Return ``outcomes.csv``: a row for every two arms that differ in warm-up alone, where runs of both are over.

    Columns are the recipe's two axes, ``outcome``, and for either arm (``_without``, ``_with``) its mean best score,
    how many runs are over, how many of them train and how many diverged.
    """
    scores = scores_by_arm(recipe, runs)
    line = line_of(recipe, scores)
    complete = (pair for pair in _pairs(recipe) if all(scores.get(arm) for arm in pair))
    return pd.DataFrame([_row(recipe, pair, scores, line) for pair in complete])


def _values(scores: list[tuple[float, bool]]) -> list[float]:
    return [score for score, _ in scores]


def _lengths(recipe: Recipe) -> int:
    """Return how many lengths of warm-up there are, none among them."""
    return len({arm.values[recipe.outcomes["over"]] for arm in recipe.arms.values()})


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
            f"{name_of_score}_{name}": statistics.fmean(_values(mine)),
            f"runs_{name}": len(mine),
            f"trained_{name}": trained,
            f"diverged_{name}": sum(diverged for _, diverged in mine),
        }
    diverged = any(2 * measured[f"diverged_{name}"] > measured[f"runs_{name}"] for name in ("without", "with"))
    fails = "diverges" if diverged else "fails"
    values = recipe.arms[pair[0]].values
    where = {recipe.outcomes[part]: values[recipe.outcomes[part]] for part in ("rows", "columns")}
    return {**where, "outcome": WORDS.get((majority[0], majority[1]), fails), **measured}


def outcomes_page(recipe: Recipe, runs: Sequence[CountedRun]) -> str:
    """Return the table for people, in Markdown, and what its words mean; empty where no two arms are over."""
    table = outcomes_table(recipe, runs)
    if table.empty:
        return ""
    headers, rows = for_people(recipe, table)
    score = load_task(recipe.task).score
    success = success_of(recipe)
    explanation = EXPLANATION.format(
        title=score.title,
        measure=f"`{success.measure}`",
        share=success.fraction,
        floor=f" and more than {score.text(success.at_least)}," if success.at_least else "",
        best=score.text(best_mean(map(_values, scores_by_arm(recipe, runs).values()))),
        length="the longest one" if _lengths(recipe) > 2 else "it",
        row=headers[0],
        column=recipe.outcomes["columns"],
    )
    return f"{explanation}\n\n{tabulate(rows, headers=headers, tablefmt='github')}"


def for_people(recipe: Recipe, table: pd.DataFrame) -> tuple[list[str], list[list[str]]]:
    """Return the head and the rows of the table for people, from ``outcomes.csv``."""
    score = load_task(recipe.task).score
    row, column = recipe.outcomes["rows"], recipe.outcomes["columns"]
    cells: dict[str, dict[str, str]] = {}
    for record in table.to_dict("records"):
        cells.setdefault(record[row], {})[record[column]] = _cell(record, score)
    columns = list(dict.fromkeys(arm.values[column] for arm in recipe.arms.values()))
    return [row, *columns], [[name, *(cells[name].get(value, "–") for value in columns)] for name in cells]


def _cell(record: dict[Any, Any], score: Score) -> str:
    counts = [(record[f"trained_{name}"], record[f"runs_{name}"]) for name in ("without", "with")]
    agreed = all(trained in (0, runs) for trained, runs in counts)
    how_many = "" if agreed else f" ({' / '.join(f'{trained} of {runs}' for trained, runs in counts)})"
    diverged = record["diverged_without"] + record["diverged_with"]
    lost = f", {diverged} diverged" if diverged else ""
    without, with_warmup = (score.text(record[f"{score.name}_{name}"]) for name in ("without", "with"))
    return f"{record['outcome']} {without} / {with_warmup}{how_many}{lost}"
