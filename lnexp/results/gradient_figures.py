"""The gradients by layer along training: Fig. 3(a,b), a line for every update that was probed."""

from pathlib import Path

import pandas as pd
from matplotlib import colormaps, rc_context
from matplotlib.figure import Figure

from lnexp.recipes.recipe import Recipe
from lnexp.results.figures import STYLE, add_legend, evenly_spaced, save

MOST_LINES = 6


def draw(recipe: Recipe, probes: pd.DataFrame, folder: Path) -> None:
    """Write ``gradients.png`` and ``gradients.svg``: W¹ and W² of both sides across, the arms below each other."""
    arms = [arm for arm in recipe.arms.values() if arm.name in set(probes["arm"])]
    panels = [(side, parameter) for parameter in ("W1", "W2") for side in ("encoder", "decoder")]
    shown = evenly_spaced(sorted(probes["update"].unique()), MOST_LINES)
    with rc_context(STYLE):
        figure = Figure(figsize=(12, 1.4 + 2.6 * len(arms)), layout="constrained")
        axes = figure.subplots(len(arms), len(panels), squeeze=False, sharex=True)
        for arm, row in zip(arms, axes, strict=True):
            for axis, (side, parameter) in zip(row, panels, strict=True):
                chosen = probes.query("arm == @arm.name and side == @side and parameter == @parameter")
                for number, update in enumerate(shown):
                    mean = chosen[chosen["update"] == update].groupby("layer")["grad_norm"].mean()
                    colour = colormaps["viridis"](number / len(shown))
                    axis.plot(mean.index, mean, marker="o", markersize=3, color=colour, label=f"update {update}")
                axis.set(title=f"{parameter}, {side}", yscale="log")
            row[0].set_ylabel(f"{arm.label}\n‖E[∂L/∂W]‖_F")
        for axis in axes[-1]:
            axis.set_xlabel("layer")
        figure.suptitle(f"{recipe.figure}: {recipe.title}\nmean of {probes['seed'].nunique()} seeds", fontsize=10)
        add_legend(figure, columns=MOST_LINES)
        save(figure, folder, "gradients")
