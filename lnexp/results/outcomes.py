"""Classify arms by whether they train without warm-up: a word for every two arms that differ in warm-up alone."""

import statistics
from collections.abc import Iterator
from typing import Any

import pandas as pd
from tabulate import tabulate

from lnexp.recipes.recipe import Recipe
from lnexp.results.collect import RunResult
from lnexp.tasks import load_task
from lnexp.tasks.contract import Score
from lnexp.tasks.measures import best

#: A run trains where its best score is more than this share of that of the recipe's best arm: the line between failing
#: and training of fig2a-no-warmup-fails-low.
TRAINS = 0.5

#: By whether most runs train without warm-up and with it.
WORDS = {(True, True): "trains", (False, True): "needs warm-up", (True, False): "only without warm-up"}

EXPLANATION = """\
A run trains if its best validation {title} is more than {share} of {best}, that of the best arm. A cell says of a \
{row} and a {column} what most runs do, without warm-up and with it: *trains*; *needs warm-up*; *only without \
warm-up*; *fails*; *diverges* (fails, and most runs without warm-up or most with it end in a loss that is no \
number). Behind it mean {title} without / with warm-up, and where runs do not agree how many train."""


def outcomes_table(recipe: Recipe, runs: list[RunResult]) -> pd.DataFrame:
    """Return ``outcomes.csv``: a row for every two arms that differ in warm-up alone, where runs of both are over.

    Columns are the recipe's two axes, ``outcome``, and for either arm (``_without``, ``_with``) its mean best score,
    how many runs are over, how many of them train and how many diverged.
    """
    over, line = _over_by_arm(runs), TRAINS * best_mean(runs)
    complete = (pair for pair in _pairs(recipe) if all(over.get(arm) for arm in pair))
    return pd.DataFrame([_row(recipe, pair, over, line) for pair in complete])


def _over_by_arm(runs: list[RunResult]) -> dict[str, list[RunResult]]:
    by_arm: dict[str, list[RunResult]] = {}
    for run in runs:
        if run.counts and best(run, run.task.score) is not None:
            by_arm.setdefault(run.job.arm.name, []).append(run)
    return by_arm


def _pairs(recipe: Recipe) -> Iterator[tuple[str, str]]:
    """Yield each arm without warm-up and its counterpart with it: the first and the last on the axis ``over``."""
    over = recipe.outcomes["over"]
    alike: dict[tuple[str, ...], list[str]] = {}
    for arm in recipe.arms.values():
        rest = tuple(value for axis, value in arm.values.items() if axis != over)
        alike.setdefault(rest, []).append(arm.name)
    for arms in alike.values():
        yield arms[0], arms[-1]


def _best(run: RunResult) -> float:
    return best(run, run.task.score) or 0.0


def _mean(runs: list[RunResult]) -> float:
    return statistics.fmean(map(_best, runs))


def best_mean(runs: list[RunResult]) -> float:
    """Return the highest mean best score of an arm."""
    return max(map(_mean, _over_by_arm(runs).values()), default=0.0)


def _row(recipe: Recipe, pair: tuple[str, str], over: dict[str, list[RunResult]], line: float) -> dict[str, Any]:
    score = load_task(recipe.task).score
    measured: dict[str, Any] = {}
    majority = []
    for name, arm in zip(("without", "with"), pair, strict=True):
        trained = sum(_best(run) > line for run in over[arm])
        majority.append(trained > len(over[arm]) / 2)
        measured |= {
            f"{score.name}_{name}": _mean(over[arm]),
            f"runs_{name}": len(over[arm]),
            f"trained_{name}": trained,
            f"diverged_{name}": sum(run.diverged for run in over[arm]),
        }
    diverged = any(2 * measured[f"diverged_{name}"] > measured[f"runs_{name}"] for name in ("without", "with"))
    fails = "diverges" if diverged else "fails"
    values = recipe.arms[pair[0]].values
    where = {recipe.outcomes[part]: values[recipe.outcomes[part]] for part in ("rows", "columns")}
    return {**where, "outcome": WORDS.get((majority[0], majority[1]), fails), **measured}


def outcomes_page(recipe: Recipe, runs: list[RunResult]) -> str:
    """Return the table for people, in Markdown, and what its words mean; empty where no two arms are over."""
    table = outcomes_table(recipe, runs)
    if table.empty:
        return ""
    headers, rows = for_people(recipe, table)
    score = load_task(recipe.task).score
    explanation = EXPLANATION.format(
        title=score.title,
        share=TRAINS,
        best=score.text(best_mean(runs)),
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
