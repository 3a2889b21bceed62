"""Who trains without warm-up, who needs it, who fails: a word for every two arms that differ in it alone."""

import statistics
from collections.abc import Iterator
from typing import Any

import pandas as pd
from tabulate import tabulate

from lnexp.recipes.recipe import Recipe
from lnexp.results.collect import RunResult
from lnexp.results.measures import best_bleu

#: A run trains where its best BLEU is more than so much of that of the recipe's best arm: the line between failing and
#: training of fig2a-no-warmup-fails-low.
TRAINS = 0.5

#: By whether most runs train without warm-up and with it.
WORDS = {(True, True): "trains", (False, True): "needs warm-up", (True, False): "only without warm-up"}

EXPLANATION = """\
A run trains if its best validation BLEU is more than {share} of {best:.1f}, that of the best arm. A cell says of a \
{row} and a {column} what most runs do, without warm-up and with it: *trains*; *needs warm-up*; *only without \
warm-up*; *fails*; *diverges* (fails, and most runs without warm-up or most with it end in a loss that is no \
number). Behind it mean BLEU without / with warm-up, and where runs do not agree how many train."""


def outcomes_table(recipe: Recipe, runs: list[RunResult]) -> pd.DataFrame:
    """``outcomes.csv``: a row for every two arms that differ in their warm-up alone and of which runs are over.

    Columns are the recipe's two axes, ``outcome``, and for either arm (``_without``, ``_with``) its mean best BLEU, how
    many runs are over, how many of them train and how many diverged.
    """
    over, line = _over_by_arm(runs), TRAINS * best_mean(runs)
    complete = (pair for pair in _pairs(recipe) if all(over.get(arm) for arm in pair))
    return pd.DataFrame([_row(recipe, pair, over, line) for pair in complete])


def _over_by_arm(runs: list[RunResult]) -> dict[str, list[RunResult]]:
    by_arm: dict[str, list[RunResult]] = {}
    for run in runs:
        if run.counts and best_bleu(run) is not None:
            by_arm.setdefault(run.job.arm.name, []).append(run)
    return by_arm


def _pairs(recipe: Recipe) -> Iterator[tuple[str, str]]:
    """The arms without warm-up, each with its like with it: the first and the last on the axis ``over``."""
    over = recipe.outcomes["over"]
    alike: dict[tuple[str, ...], list[str]] = {}
    for arm in recipe.arms.values():
        rest = tuple(value for axis, value in arm.values.items() if axis != over)
        alike.setdefault(rest, []).append(arm.name)
    for arms in alike.values():
        yield arms[0], arms[-1]


def _mean(runs: list[RunResult]) -> float:
    return statistics.fmean(best_bleu(run) or 0.0 for run in runs)


def best_mean(runs: list[RunResult]) -> float:
    """The highest mean best BLEU of an arm."""
    return max(map(_mean, _over_by_arm(runs).values()), default=0.0)


def _row(recipe: Recipe, pair: tuple[str, str], over: dict[str, list[RunResult]], line: float) -> dict[str, Any]:
    measured: dict[str, Any] = {}
    majority = []
    for name, arm in zip(("without", "with"), pair, strict=True):
        trained = sum((best_bleu(run) or 0.0) > line for run in over[arm])
        majority.append(trained > len(over[arm]) / 2)
        measured |= {
            f"bleu_{name}": _mean(over[arm]),
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
    """The table for people, in Markdown, and what its words mean; empty where no two arms are over."""
    table = outcomes_table(recipe, runs)
    if table.empty:
        return ""
    headers, rows = for_people(recipe, table)
    said = EXPLANATION.format(share=TRAINS, best=best_mean(runs), row=headers[0], column=recipe.outcomes["columns"])
    return f"{said}\n\n{tabulate(rows, headers=headers, tablefmt='github')}"


def for_people(recipe: Recipe, table: pd.DataFrame) -> tuple[list[str], list[list[str]]]:
    """The table for people: its head, and its rows, from ``outcomes.csv``."""
    row, column = recipe.outcomes["rows"], recipe.outcomes["columns"]
    cells: dict[str, dict[str, str]] = {}
    for record in table.to_dict("records"):
        cells.setdefault(record[row], {})[record[column]] = _cell(record)
    columns = list(dict.fromkeys(arm.values[column] for arm in recipe.arms.values()))
    return [row, *columns], [[name, *(cells[name].get(value, "–") for value in columns)] for name in cells]


def _cell(record: dict[Any, Any]) -> str:
    counts = [(record[f"trained_{name}"], record[f"runs_{name}"]) for name in ("without", "with")]
    agreed = all(trained in (0, runs) for trained, runs in counts)
    how_many = "" if agreed else f" ({' / '.join(f'{trained} of {runs}' for trained, runs in counts)})"
    diverged = record["diverged_without"] + record["diverged_with"]
    lost = f", {diverged} diverged" if diverged else ""
    return f"{record['outcome']} {record['bleu_without']:.1f} / {record['bleu_with']:.1f}{how_many}{lost}"
