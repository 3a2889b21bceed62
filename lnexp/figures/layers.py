"""Make the figures of gradients and hidden states by layer along training, a line an update, as in Fig. 3(a,b)."""

import pandas as pd
from matplotlib import colormaps
from matplotlib.colors import to_hex

from lnexp.figures.names import GRADIENTS, STATES
from lnexp.figures.panels import MEANS_AND_BANDS, Drawing, LineStyle, Panel, evenly_spaced, line
from lnexp.recipes.recipe import Arm, Recipe
from lnexp.seeds import named_seeds

MOST_LINES = 6


def layers(recipe: Recipe, probes: pd.DataFrame, scope: str) -> list[Drawing]:
    """Return the figures ``gradients`` and ``states`` of ``probes.csv``, with a row an arm.

    A row has a panel for W¹ and W² of every side (encoder, decoder), or for the hidden states of every side. Panels
    above each other have one scale.

    Args:
        recipe: whose arms they are.
        probes: the table, not empty.
        scope: what they were trained on, in words.
    """
    sides = probes["side"].unique().tolist()
    gradients = {
        f"{parameter}, {side}": probes.query("side == @side and parameter == @parameter")
        for parameter in ("W1", "W2")
        for side in sides
    }
    drawings = [_drawing(recipe, GRADIENTS, gradients, ("grad_norm", "‖E[∂L/∂W]‖_F"), scope)]
    if "output" in probes:
        states = {side: probes[probes["output"].notna() & (probes["side"] == side)] for side in sides}
        drawings.append(_drawing(recipe, STATES, states, ("output", "E‖x‖² / d"), scope))
    return [drawing for drawing in drawings if drawing.rows]


def _drawing(
    recipe: Recipe, name: str, panels: dict[str, pd.DataFrame], along_y: tuple[str, str], scope: str
) -> Drawing:
    """Return one figure of panels, which are tables by title; ``along_y``: the column that they show, and its label."""
    probes = pd.concat(panels.values())
    arms = [arm for arm in recipe.arms.values() if arm.name in set(probes["arm"])]
    updates = evenly_spaced(sorted(probes["update"].unique().tolist()), MOST_LINES)
    rows = [_row(arm, panels, updates, *along_y) for arm in arms]
    subtitle = f"{scope} · {named_seeds(probes['seed'])}: {MEANS_AND_BANDS}"
    size = (1.5 + 6 / len(panels), 2.6)
    return Drawing(name, recipe.heading, subtitle, rows, size, legend_columns=len(panels) + 2, share_y="col")


def _row(arm: Arm, panels: dict[str, pd.DataFrame], updates: list[float], y: str, label: str) -> list[Panel]:
    return [
        Panel(
            title=title,
            x_label="layer",
            y_label="" if number else f"{arm.label}\n{label}",
            lines=[
                line(
                    f"update {update}",
                    LineStyle(to_hex(colormaps["viridis"](place / len(updates)))),
                    table[(table["arm"] == arm.name) & (table["update"] == update)],
                    "layer",
                    y,
                )
                for place, update in enumerate(updates)
            ],
            y_scale="log",
            whole=True,
        )
        for number, (title, table) in enumerate(panels.items())
    ]
