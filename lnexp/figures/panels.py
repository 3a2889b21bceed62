"""What a figure shows, whoever draws it: matplotlib for paper, the report's page for a screen."""

from dataclasses import dataclass

import pandas as pd


@dataclass(frozen=True)
class Look:
    """How a line is told from the others.

    Attributes:
        colour: as ``#rrggbb``.
        dash: matplotlib's word for the style of a line.
    """

    colour: str
    dash: str = "-"


@dataclass(frozen=True)
class Line:
    """The mean over seeds at every ``x``, in a band from the least to the greatest; lists of one length."""

    label: str
    look: Look
    x: list[float]
    mean: list[float]
    low: list[float]
    high: list[float]


@dataclass(frozen=True)
class Panel:
    """One pair of axes.

    Attributes:
        title: above it.
        x_label, y_label: along it.
        lines: in the order of the legend.
        x_scale, y_scale: ``linear`` or ``log``.
        ticks: the only values named along x, where they are few.
        whole: whether x counts something.
    """

    title: str
    x_label: str
    y_label: str
    lines: list[Line]
    x_scale: str = "linear"
    y_scale: str = "linear"
    ticks: tuple[float, ...] = ()
    whole: bool = False


@dataclass(frozen=True)
class Drawing:
    """One figure.

    Attributes:
        name: of its files.
        title: above it.
        subtitle: what was measured on.
        rows: of panels, from above, all equally long.
        panel_size: inches across and down.
        legend_columns: at most.
        share_y: whether the panels of a row have one scale along y.
    """

    name: str
    title: str
    subtitle: str
    rows: list[list[Panel]]
    panel_size: tuple[float, float]
    legend_columns: int
    share_y: bool = False


def line(label: str, look: Look, table: pd.DataFrame, x: str, y: str) -> Line:
    """The line of a table with a row for every seed and ``x``."""
    by_x = table.dropna(subset=[x, y]).groupby(x)[y]
    mean, low, high = by_x.mean(), by_x.min(), by_x.max()
    return Line(label, look, mean.index.tolist(), mean.tolist(), low.tolist(), high.tolist())
