"""Draw the figure of the answer: the best score of every run, by placement and warm-up, a panel a corpus."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from matplotlib import rc_context
from matplotlib.figure import Figure

from lnexp.figures.draw import STYLE, write_png
from lnexp.figures.line_styles import BLUE, ORANGE


def draw_answer(points: Mapping[str, Mapping[str, Sequence[float]]], path: Path) -> None:
    """Write the figure as a PNG, the same bytes for the same points.

    Args:
        points: the best validation BLEU of every run, by corpus and arm, as ``Post-LN, no warm-up``; Pre-LN is drawn in
            blue and Post-LN in orange, hollow without warm-up.
        path: the file to write.
    """
    with rc_context(STYLE):
        figure = Figure(figsize=(3.9 * len(points), 2.7), layout="constrained")
        for axis, (corpus, of_arms) in zip(
            figure.subplots(1, len(points), squeeze=False)[0], points.items(), strict=True
        ):
            _draw_panel(axis, corpus, of_arms)
        write_png(figure, path)


def _draw_panel(axis: Any, corpus: str, of_arms: Mapping[str, Sequence[float]]) -> None:
    for place, (arm, values) in enumerate(of_arms.items()):
        # side by side, so that runs of one score can be counted
        across = [place + 0.05 * (number - (len(values) - 1) / 2) for number in range(len(values))]
        colour = ORANGE if arm.startswith("Post-LN") else BLUE
        face = "white" if arm.endswith("no warm-up") else colour
        axis.plot(across, values, "o", color=colour, markerfacecolor=face, markersize=5, clip_on=False)
    axis.set_xticks(range(len(of_arms)), [arm.replace(", ", ",\n") for arm in of_arms])
    axis.set(
        title=f"{corpus}, {_seeds(of_arms)} seeds",
        ylabel="best validation BLEU",
        xlim=(-0.6, len(of_arms) - 0.4),
    )
    axis.set_ylim(bottom=0)
    axis.grid(visible=False, axis="x")


def _seeds(of_arms: Mapping[str, Sequence[float]]) -> int:
    return max(len(values) for values in of_arms.values())
