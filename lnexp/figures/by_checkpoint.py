"""Make the figure of accuracy after fine-tuning by the checkpoint that it starts from, as Fig. 5(b,c): a line a row."""

from dataclasses import replace

import pandas as pd

from lnexp.figures.line_styles import styles_of
from lnexp.figures.names import BY_CHECKPOINT
from lnexp.figures.panels import MEANS_AND_BANDS, Drawing, Line, LineStyle, Panel, line
from lnexp.recipes.recipe import Recipe
from lnexp.seeds import named_seeds
from lnexp.tasks import load_task

#: The column of ``runs.csv`` with the epoch of the checkpoint that a run starts from.
START = "start_epoch"
#: The line of whoever always says the most frequent class.
MAJORITY = LineStyle("#8A8A8A", ":")


def by_checkpoint(recipe: Recipe, runs: pd.DataFrame, scope: str) -> Drawing | None:
    """Return the figure of ``runs.csv``, of runs that are over.

    None for a table whose runs start from no checkpoint, and for rows with two arms that start from one: they differ in
    something else.

    Args:
        recipe: whose rows of arms are the lines.
        runs: the table.
        scope: what they were trained on, in words.
    """
    if START not in runs or runs.empty:
        return None
    of_arms = runs[runs["arm"].isin(recipe.arms)].drop_duplicates(["arm", START])
    if of_arms.assign(row=[recipe.arms[arm].row for arm in of_arms["arm"]]).duplicated(["row", START]).any():
        return None
    score = load_task(recipe.task).score
    epochs = sorted(runs[START].unique().tolist())
    panels = {
        f"validation {score.title}, last epoch": (score.last, "valid_majority"),
        f"test {score.title}": (score.test, "test_majority"),
    }
    seeds = f"{named_seeds(runs['seed'])}: {MEANS_AND_BANDS}"
    rows = [
        [
            Panel(
                title=title,
                x_label="epochs of pre-training",
                y_label="",
                lines=[*_lines(recipe, runs, column), line("most frequent class", MAJORITY, runs, START, majority)],
                ticks=tuple(epochs),
            )
            for title, (column, majority) in panels.items()
        ]
    ]
    return Drawing(BY_CHECKPOINT, recipe.heading, f"{scope} · {seeds}", rows, (4, 3.4), 2, share_y="row")


def _lines(recipe: Recipe, runs: pd.DataFrame, column: str) -> list[Line]:
    first = {row: replace(arms[0], label=row, row="") for row, arms in recipe.rows.items()}
    styles = styles_of(recipe.with_arms(first))
    names = {row: [arm.name for arm in arms] for row, arms in recipe.rows.items()}
    return [line(row, styles[row], runs[runs["arm"].isin(names[row])], START, column) for row in names]
