"""Make the figure of what happens in every layer along training, a row an arm, from snapshots."""

import pandas as pd
from matplotlib import colormaps
from matplotlib.colors import to_hex

from lnexp.figures.names import ALONG
from lnexp.figures.panels import Drawing, Line, LineStyle, Panel
from lnexp.recipes.recipe import Arm, Recipe
from lnexp.seeds import named_seeds
from lnexp.tasks import load_task

#: Columns that ``snapshots.csv`` may have, their titles, where ``{unit}`` is that of losses, and the scale along y.
PANELS = {
    "train_loss": ("training loss\n({unit})", "linear"),
    "sharpness": ("sharpness of the loss\n(nats)", "log"),
    "gradient_norm": ("norm of the gradient", "log"),
    "update_rms": ("size of the update\n(learning rates)", "log"),
    "relative_update": ("size of the update\n(of the weights)", "log"),
    "state_change": ("change of hidden states\nby the update (E‖Δx‖²/E‖x‖²)", "log"),
    "hidden_state": ("hidden states\n(E‖x‖²/d)", "log"),
    "hidden_cosine": ("cosine of two positions'\nhidden states", "linear"),
    "attention_entropy": ("entropy of attention\n(nats)", "linear"),
}
DASHES = {"encoder": "-", "decoder": "--", "model": "-"}
#: The colour of what is of no layer.
MODEL = "#333333"


def along(recipe: Recipe, snapshots: pd.DataFrame, scope: str) -> Drawing:
    """Return the figure of ``snapshots.csv``: medians over seeds, a line a layer, by update on a log scale.

    Args:
        recipe: whose arms they are.
        snapshots: the table, not empty, of runs that are over.
        scope: what they were trained on, in words.
    """
    arms = [arm for arm in recipe.arms.values() if arm.name in set(snapshots["arm"])]
    seeds = f"{named_seeds(snapshots['seed'])}: lines are medians"
    unit = load_task(recipe.task).loss_unit
    rows = [_row(arm, snapshots[snapshots["arm"] == arm.name], unit) for arm in arms]
    return Drawing(ALONG, recipe.heading, f"{scope} · {seeds}", rows, (2.4, 1.9), legend_columns=7, share_y="col")


def _row(arm: Arm, mine: pd.DataFrame, unit: str) -> list[Panel]:
    panels = {column: said for column, said in PANELS.items() if column in mine}
    medians = mine.groupby(["side", "layer", "update"])[list(panels)].median()
    return [
        Panel(
            title=title.format(unit=unit),
            x_label="update",
            y_label="" if number else arm.label,
            lines=_lines(medians[column].dropna(), mine.dropna(subset=[column])),
            x_scale="log",
            y_scale=scale,
        )
        for number, (column, (title, scale)) in enumerate(panels.items())
    ]


def _lines(medians: pd.Series, rows: pd.DataFrame) -> list[Line]:
    """Return a line a layer, in the order of the rows.

    Args:
        medians: over seeds, by side, layer and update.
        rows: those that they are of.
    """
    deepest = int(rows["layer"].max()) if len(rows) else 0
    lines = []
    for side, layer in rows[["side", "layer"]].drop_duplicates().itertuples(index=False):
        of_layer = medians.loc[side, layer]
        updates, values = of_layer.index.tolist(), of_layer.tolist()
        lines.append(Line(_label(side, layer), _style(side, layer, deepest), updates, values, values, values))
    return lines


def _label(side: str, layer: int) -> str:
    return f"{side} {layer}" if layer else side


def _style(side: str, layer: int, deepest: int) -> LineStyle:
    colour = to_hex(colormaps["viridis"]((layer - 1) / deepest)) if layer else MODEL
    return LineStyle(colour, DASHES.get(side, ":"), "none")
