"""Draw the figure of the answer: the best score of every run, by placement and warm-up, a panel a corpus."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from matplotlib import rc_context
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from lnexp.figures.draw import STYLE
from lnexp.figures.line_styles import BLUE, ORANGE


class _Dots(NamedTuple):
    """How the runs of an arm are drawn: their colour, and filled where they have a warm-up."""

    colour: str
    filled: bool


#: The arms that answer the question, in the figure's order; Pre-LN blue, Post-LN orange.
ANSWER_ARMS = {
    "Post-LN, no warm-up": _Dots(ORANGE, filled=False),
    "Post-LN, warm-up": _Dots(ORANGE, filled=True),
    "Pre-LN, no warm-up": _Dots(BLUE, filled=False),
    "Pre-LN, warm-up": _Dots(BLUE, filled=True),
}


def draw_answer(points: Mapping[str, Mapping[str, Sequence[float]]], path: Path) -> None:
    """Write the figure as a PNG, the same bytes for the same points.

    Args:
        points: the best validation BLEU of every run, by corpus and by the arms of ``ANSWER_ARMS``.
        path: the file to write.
    """
    with rc_context(STYLE):
        figure = Figure(figsize=(3.9 * len(points), 2.7), layout="constrained")
        for axis, (corpus, of_arms) in zip(
            figure.subplots(1, len(points), squeeze=False)[0], points.items(), strict=True
        ):
            _draw_panel(axis, corpus, of_arms)
        FigureCanvasAgg(figure).print_png(path, metadata={"Software": None})


def _draw_panel(axis: Any, corpus: str, of_arms: Mapping[str, Sequence[float]]) -> None:
    for place, (arm, dots) in enumerate(ANSWER_ARMS.items()):
        values = of_arms[arm]
        # side by side, so that runs of one score can be counted
        across = [place + 0.05 * (number - (len(values) - 1) / 2) for number in range(len(values))]
        face = dots.colour if dots.filled else "white"
        axis.plot(across, values, "o", color=dots.colour, markerfacecolor=face, markersize=5, clip_on=False)
    axis.set_xticks(range(len(ANSWER_ARMS)), [arm.replace(", ", ",\n") for arm in ANSWER_ARMS])
    axis.set(
        title=f"{corpus}, {_seeds(of_arms)} seeds",
        ylabel="best validation BLEU",
        xlim=(-0.6, len(ANSWER_ARMS) - 0.4),
    )
    axis.set_ylim(bottom=0)
    axis.grid(visible=False, axis="x")


def _seeds(of_arms: Mapping[str, Sequence[float]]) -> int:
    return max(len(values) for values in of_arms.values())
