"""Say in words, for people, which arms train without warm-up."""

from collections.abc import Sequence
from typing import Any

import pandas as pd
from tabulate import tabulate

from lnexp.recipes.recipe import Recipe
from lnexp.results.evidence.contract import CountedRun
from lnexp.results.measures.outcomes import outcomes_table
from lnexp.results.measures.success import best_mean, scores_by_arm, success_of
from lnexp.tasks import load_task
from lnexp.tasks.contract import Score

EXPLANATION = """\
A run trains if its {measure} is more than {share} of {best}, that of the best arm,{floor} and it does not diverge. \
A cell says of a {row} and a {column} what most runs do (half is not most), without warm-up and with {length}: \
*trains*; *needs warm-up*; *only without warm-up*; *fails*; *diverges* (fails, and most runs without warm-up or most \
with it end in a loss that is no number). Behind it mean {title} without / with warm-up, and where runs do not agree \
how many train."""


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
        best=score.text(best_mean([score for score, _ in mine] for mine in scores_by_arm(recipe, runs).values())),
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


def _lengths(recipe: Recipe) -> int:
    """Return how many lengths of warm-up there are, none among them."""
    return len({arm.values[recipe.outcomes["over"]] for arm in recipe.arms.values()})
