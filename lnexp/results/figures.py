"""Figures in the paper's form: validation loss and BLEU against epoch, one line an arm, the learning rate beside."""

from pathlib import Path
from typing import Any

import matplotlib
import matplotlib.pyplot as plt
import pandas as pd

from lnexp.recipes.recipe import Recipe

#: Okabe and Ito's palette: told apart by the colour-blind, too.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000", "#F0E442")
LINE_STYLES = ("-", "--", "-.", ":")
PANELS = {
    "valid_loss": "validation loss (label-smoothed, nats a token)",
    "valid_bleu": "validation BLEU",
    "lr": "learning rate of the epoch's last update",
}
STYLE: Any = {"svg.hashsalt": "lnexp", "font.size": 9, "axes.grid": True, "grid.alpha": 0.3}


def draw(recipe: Recipe, epochs: pd.DataFrame, subtitle: str, folder: Path) -> None:
    """Write ``figure.png`` and ``figure.svg``: each arm's mean over seeds, in a band from the least to the greatest.

    Without an epoch there is no figure, and an old one is removed.
    """
    paths = folder / "figure.png", folder / "figure.svg"
    if epochs.empty:
        for path in paths:
            path.unlink(missing_ok=True)
        return
    matplotlib.use("Agg")
    with plt.rc_context(STYLE):
        figure, axes = plt.subplots(1, len(PANELS), figsize=(12, 4.4), layout="constrained")
        for axis, (column, title) in zip(axes, PANELS.items(), strict=True):
            for position, arm in enumerate(recipe.arms.values()):
                _draw_arm(axis, epochs[epochs["arm"] == arm.name], column, arm.label, position)
            axis.set(xlabel="epoch", title=title)
            axis.xaxis.get_major_locator().set_params(integer=True)
        figure.suptitle(f"{recipe.figure}: {recipe.title}\n{subtitle}", fontsize=10)
        handles, labels = axes[0].get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside lower center", ncols=2, frameon=False)
        figure.savefig(paths[0], dpi=150, metadata={"Software": None})
        figure.savefig(paths[1], metadata={"Date": None})
        plt.close(figure)


def _draw_arm(axis: Any, epochs: pd.DataFrame, column: str, label: str, position: int) -> None:
    colour = COLOURS[position % len(COLOURS)]
    by_epoch = epochs.groupby("epoch")[column]
    mean = by_epoch.mean()
    axis.plot(
        mean.index, mean, label=label, color=colour, linestyle=LINE_STYLES[position % 4], marker="o", markersize=3
    )
    axis.fill_between(mean.index, by_epoch.min(), by_epoch.max(), color=colour, alpha=0.15, linewidth=0)
