"""Define figures as data: what matplotlib draws for paper, and the report's page for a screen."""

from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
import pandas as pd

#: What :func:`line` shows, for subtitles.
MEANS_AND_BANDS = "lines are means, bands reach from the least to the greatest"
MEANS = "lines are means"
#: Bands of more lines than this hide each other.
MOST_BANDS = 8
#: Free room above and below the values of a range, as a share of it; matplotlib has as much.
ROOM = 0.05


@dataclass(frozen=True)
class LineStyle:
    """The colour, the dash and the marker of a line.

    Attributes:
        colour: as ``#rrggbb``.
        dash: in matplotlib's notation, as ``--``.
        marker: of its points: ``dot``, ``hollow``, ``triangle`` or ``none``.
    """

    colour: str
    dash: str = "-"
    marker: str = "dot"


@dataclass(frozen=True)
class Line:
    """The mean over seeds at every ``x``, in a band from the least to the greatest. All lists have one length."""

    label: str
    style: LineStyle
    x: list[float]
    mean: list[float]
    low: list[float]
    high: list[float]


@dataclass(frozen=True)
class Panel:
    """One pair of axes.

    Attributes:
        title: above the panel.
        x_label, y_label: along the axes.
        lines: in the order of the legend.
        x_scale, y_scale: ``linear`` or ``log``.
        ticks: the only values named along x, where there are few.
        whole: whether x has whole numbers only, as a count has.
        bits: what a second axis is called that shows y, which is in nats, in bits; empty for none.
        own_y: whether it has a scale along y of its own, whatever the figure's panels share.
    """

    title: str
    x_label: str
    y_label: str
    lines: list[Line]
    x_scale: str = "linear"
    y_scale: str = "linear"
    ticks: tuple[float, ...] = ()
    whole: bool = False
    bits: str = ""
    own_y: bool = False


@dataclass(frozen=True)
class Drawing:
    """One figure.

    Attributes:
        name: of its files.
        title: above the figure.
        subtitle: under the title: corpus, seeds and the like.
        rows: the panels, row by row from above, equally many in each.
        panel_size: width and height of a panel, inches.
        legend_columns: the most columns of the legend.
        share_y: which panels have one scale along y: those of a ``row``, those of a ``col``, or each its own (empty).
    """

    name: str
    title: str
    subtitle: str
    rows: list[list[Panel]]
    panel_size: tuple[float, float]
    legend_columns: int
    share_y: Literal["", "row", "col"] = ""


def line(label: str, style: LineStyle, table: pd.DataFrame, x: str, y: str) -> Line:
    """Return the line of a table that has a row for every seed and ``x``."""
    by_x = table.dropna(subset=[x, y]).groupby(x)[y]
    mean, low, high = by_x.mean(), by_x.min(), by_x.max()
    return Line(label, style, mean.index.tolist(), mean.tolist(), low.tolist(), high.tolist())


def with_few_bands(rows: list[list[Panel]]) -> tuple[list[list[Panel]], str]:
    """Return rows of panels, without bands where a panel has too many to be told apart, and what the lines show."""
    if all(len(panel.lines) <= MOST_BANDS for row in rows for panel in row):
        return rows, MEANS_AND_BANDS
    bare = [[replace(panel, lines=[_without_band(one) for one in panel.lines]) for panel in row] for row in rows]
    return bare, MEANS


def _without_band(one: Line) -> Line:
    return replace(one, low=one.mean, high=one.mean)


def evenly_spaced(values: list[float], most: int) -> list[float]:
    """Return ``most`` of the values at most, the first and the last among them."""
    return [values[round(place)] for place in np.linspace(0, len(values) - 1, min(len(values), most))]


def y_ranges(drawing: Drawing) -> list[tuple[float, float] | None]:
    """Return what each panel, row by row, shows along y: what all panels of one scale have; None for its own scale."""
    panels = [panel for row in drawing.rows for panel in row]
    scales = y_scales(drawing)
    together: dict[int, list[Panel]] = {}
    for scale, panel in zip(scales, panels, strict=True):
        if scale is not None:
            together.setdefault(scale, []).append(panel)
    ranges = {scale: _y_range(of_scale) for scale, of_scale in together.items()}
    return [None if scale is None else ranges[scale] for scale in scales]


def y_scales(drawing: Drawing) -> list[int | None]:
    """Return the number of the scale along y of each panel, row by row; panels of one scale share it, None: its own."""
    by_row = drawing.share_y == "row"
    return [
        None if panel.own_y or not drawing.share_y else row if by_row else column
        for row, panels in enumerate(drawing.rows)
        for column, panel in enumerate(panels)
    ]


def _y_range(panels: list[Panel]) -> tuple[float, float] | None:
    """Return the least and the greatest value of panels with some room; None where they have not two that are shown."""
    is_log = panels[0].y_scale == "log"
    values = [y for panel in panels for line in panel.lines for y in (*line.low, *line.high) if y > 0 or not is_log]
    low, high = min(values, default=0.0), max(values, default=0.0)
    if low == high:
        return None
    if is_log:
        room = (high / low) ** ROOM
        return low / room, high * room
    room = ROOM * (high - low)
    return low - room, high + room
