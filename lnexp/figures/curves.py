"""Training in the paper's form: validation loss and BLEU against epoch, one line an arm, the learning rate beside."""

import pandas as pd

from lnexp.figures.line_styles import looks_of
from lnexp.figures.panels import Drawing, Panel, line
from lnexp.recipes.recipe import Arm, Recipe

PANELS = {
    "valid_loss": "validation loss (nats a token)",
    "valid_bleu": "validation BLEU",
    "lr": "learning rate at its last update",
}


def curves(recipe: Recipe, epochs: pd.DataFrame, scope: str) -> Drawing:
    """The figure of ``epochs.csv``, of runs that are over.

    Args:
        recipe: whose arms they are.
        epochs: the table, not empty.
        scope: what they were trained on, in words.
    """
    by_arm = {str(arm): table for arm, table in epochs.groupby("arm")}
    rows = [_row(row, arms, by_arm) for row, arms in recipe.rows.items()]
    seeds = ", ".join(map(str, sorted(epochs["seed"].unique())))
    bleu = epochs.iloc[0]
    subtitle = f"{scope} · seeds {seeds} · BLEU: {bleu['n_sentences']} sentences, beam {bleu['beam']}"
    return Drawing("figure", recipe.heading, subtitle, rows, (4, 3), legend_columns=3)


def _row(row: str, arms: list[Arm], by_arm: dict[str, pd.DataFrame]) -> list[Panel]:
    looks = looks_of([arm.label_in_row for arm in arms])
    shown = [(arm.label_in_row, by_arm[arm.name]) for arm in arms if arm.name in by_arm]
    return [
        Panel(
            title=f"{row}\n{title}" if row else title,
            x_label="epoch",
            y_label="",
            lines=[line(label, looks[label], table, "epoch", column) for label, table in shown],
            whole=True,
        )
        for column, title in PANELS.items()
    ]
