"""Gradients and hidden states by layer along training, a line for every update that was probed: Fig. 3(a,b) again."""

from pathlib import Path

import pandas as pd
from matplotlib import colormaps, rc_context
from matplotlib.figure import Figure

from lnexp.recipes.recipe import Recipe
from lnexp.results.figures import STYLE, add_legend, evenly_spaced, save

MOST_LINES = 6
SIDES = ("encoder", "decoder")


def draw(recipe: Recipe, probes: pd.DataFrame, folder: Path) -> None:
    """Write ``gradients`` and ``states``, each as PNG and SVG, the arms below each other.

    Across are W¹ and W² of both sides, and what the layers of both sides give out.
    """
    gradients = {
        f"{parameter}, {side}": probes.query("side == @side and parameter == @parameter")
        for parameter in ("W1", "W2")
        for side in SIDES
    }
    _draw(recipe, gradients, "grad_norm", "‖E[∂L/∂W]‖_F", folder, "gradients")
    if "output" in probes:
        states = {side: probes[probes["output"].notna() & (probes["side"] == side)] for side in SIDES}
        _draw(recipe, states, "output", "E‖x‖² / d", folder, "states")


def _draw(recipe: Recipe, panels: dict[str, pd.DataFrame], y: str, label: str, folder: Path, name: str) -> None:
    """One figure of the panels, which have their titles."""
    probes = pd.concat(panels.values())
    arms = [arm for arm in recipe.arms.values() if arm.name in set(probes["arm"])]
    shown = evenly_spaced(sorted(probes["update"].unique()), MOST_LINES)
    with rc_context(STYLE):
        figure = Figure(figsize=(6 + 1.5 * len(panels), 1.4 + 2.6 * len(arms)), layout="constrained")
        axes = figure.subplots(len(arms), len(panels), squeeze=False, sharex=True)
        for arm, row in zip(arms, axes, strict=True):
            for axis, (title, panel) in zip(row, panels.items(), strict=True):
                mine = panel[panel["arm"] == arm.name]
                for number, update in enumerate(shown):
                    mean = mine[mine["update"] == update].groupby("layer")[y].mean()
                    colour = colormaps["viridis"](number / len(shown))
                    axis.plot(mean.index, mean, marker="o", markersize=3, color=colour, label=f"update {update}")
                axis.set(title=title, yscale="log")
            row[0].set_ylabel(f"{arm.label}\n{label}")
        for axis in axes[-1]:
            axis.set_xlabel("layer")
            axis.xaxis.get_major_locator().set_params(integer=True)
        figure.suptitle(f"{recipe.figure}: {recipe.title}\nmean of {probes['seed'].nunique()} seeds", fontsize=10)
        add_legend(figure, columns=len(panels) + 2)
        save(figure, folder, name)
