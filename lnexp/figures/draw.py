"""Draw figures for a paper with matplotlib: PNG, SVG and PDF in one style, with their fonts embedded."""

import math
import textwrap
from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import partial
from io import BytesIO
from pathlib import Path
from typing import Any

from matplotlib import rc_context
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.backends.backend_pdf import FigureCanvasPdf
from matplotlib.backends.backend_svg import FigureCanvasSVG
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from lnexp.figures.panels import Drawing, Line, Panel, y_scales
from lnexp.files import write_whole

STYLE: Any = {
    "figure.dpi": 150,
    "font.size": 9,
    "axes.grid": True,
    "grid.alpha": 0.3,
    "svg.hashsalt": "lnexp",
    "svg.fonttype": "path",  # letters as outlines
    "pdf.fonttype": 42,  # letters of an embedded TrueType font, which publishers ask for
}
#: The marker in matplotlib's notation, and what it is filled with; None: the colour of the line.
MARKERS = {"dot": ("o", None), "hollow": ("o", "white"), "triangle": ("^", None), "none": ("", None)}
#: Letters on a line of a subtitle, for every inch of the figure's width.
LETTERS_AN_INCH = 12
#: The room of a legend's line beside its label, in letters.
LETTERS_OF_A_LINE = 8
#: A line of a legend, and the gap above each of its labels, inches; every figure has room for so much of them.
LEGEND_LINE, LEGEND_GAP, LEGEND_ROOM = 0.15, 0.06, 0.63

#: What values along a logarithmic axis begin with: the first of these that give so many values name it. A short axis,
#: for which none do, gets about so many evenly spaced ones.
MANTISSAS, FEWEST, MOST_OF_SHORT_AXIS = ((1, 2, 5), (1, 1.5, 2, 3, 5, 7)), 4, 4


def draw(drawing: Drawing, folder: Path) -> None:
    """Write ``NAME.png``, ``NAME.svg`` and ``NAME.pdf``: the same bytes for the same figure."""
    with rc_context(STYLE):
        save(figure_of(drawing), folder, drawing.name)


def figure_of(drawing: Drawing) -> Figure:
    """Return a figure as matplotlib has it, for a screen, or to be changed and saved."""
    across, down = drawing.panel_size
    width = across * len(drawing.rows[0])
    labels, columns = _legend_of(drawing, width)
    size = width, 1.4 + down * len(drawing.rows) + _more_for_legend(labels, columns)
    with rc_context(STYLE):
        figure = Figure(figsize=size, layout="constrained")
        all_axes = figure.subplots(len(drawing.rows), len(drawing.rows[0]), squeeze=False)
        _share(drawing, all_axes.flat)
        for row, axes in zip(_without_repeats(drawing.rows), all_axes, strict=True):
            for panel, axis in zip(row, axes, strict=True):
                _draw_panel(axis, panel)
        add_title(figure, drawing.title, drawing.subtitle)
        lines = {str(line.get_label()): line for axis in figure.axes for line in axis.get_lines()}
        figure.legend(
            [lines[label] for label in labels], list(map(as_text, labels.values())), ncols=columns,
            loc="outside lower center", frameon=False, handlelength=3,  # long enough to tell dashes apart
        )  # fmt: skip
    return figure


def _share(drawing: Drawing, axes: Iterable[Any]) -> None:
    """Give panels of one scale along y one range, and its numbers to the first of a row alone."""
    first: dict[int, Any] = {}
    for scale, axis in zip(y_scales(drawing), axes, strict=True):
        if scale is None:
            continue
        if scale in first:
            axis.sharey(first[scale])
            if drawing.share_y == "row":
                axis.tick_params(which="both", labelleft=False)
        first.setdefault(scale, axis)


def _without_repeats(rows: list[list[Panel]]) -> list[list[Panel]]:
    """Return panels with the title of a column on its first one alone, and the name along x on its last one, where all
    panels of each column have the same.
    """
    columns = list(zip(*rows, strict=True))
    titles, names = (
        all(len({getattr(panel, text) for panel in column}) == 1 for column in columns) for text in ("title", "x_label")
    )
    last = len(rows) - 1
    return [
        [
            replace(
                panel,
                title="" if titles and number > 0 else panel.title,
                x_label="" if names and number < last else panel.x_label,
            )
            for panel in row
        ]
        for number, row in enumerate(rows)
    ]


def axes_for(figure: Figure, count: int, across: int) -> list[Any]:
    """Return so many axes of a figure, row by row; what is left of the last row is empty."""
    axes = figure.subplots(math.ceil(count / across), across, squeeze=False).flatten()
    for axis in axes[count:]:
        axis.set_axis_off()
    return list(axes[:count])


def add_title(figure: Figure, title: str, subtitle: str) -> None:
    """Write a title and a subtitle above a figure, in lines as long as it is wide."""
    letters = round(figure.get_figwidth() * LETTERS_AN_INCH)
    figure.suptitle("\n".join(textwrap.fill(as_text(text), letters) for text in (title, subtitle)), fontsize=10)


def as_text(text: str) -> str:
    """Return a text as matplotlib draws it, which takes what stands between two dollars for a formula."""
    return text.replace("$", r"\$")


def name_few(axis: Any, limits: tuple[float, float]) -> None:
    """Name few values along a logarithmic axis, which names none or too many."""
    steps = [[mantissa * 10.0**exponent for exponent in range(-3, 3) for mantissa in of] for of in MANTISSAS]
    shown = [_within(limits, values) for values in steps]
    enough = (ticks for ticks in shown if len(ticks) >= FEWEST)
    ticks = next(enough, None) or _within(limits, MaxNLocator(MOST_OF_SHORT_AXIS).tick_values(*limits))
    axis.set_ticks(ticks, labels=[f"{value:g}" for value in ticks])
    axis.set_ticks([], minor=True)


def _within(limits: tuple[float, float], values: Iterable[float]) -> list[float]:
    return [value for value in values if limits[0] <= value <= limits[1]]


def remove(name: str, folder: Path) -> None:
    """Remove the files of a figure."""
    for ending in ("png", "svg", "pdf"):
        (folder / f"{name}.{ending}").unlink(missing_ok=True)


def _draw_panel(axis: Any, panel: Panel) -> None:
    for line in panel.lines:
        _draw_line(axis, line)
    texts = {"title": panel.title, "xlabel": panel.x_label, "ylabel": panel.y_label}
    axis.set(**{name: as_text(text) for name, text in texts.items()}, xscale=panel.x_scale)
    # a zero is left out of a logarithmic axis: the line to it would be drawn as one to the edge
    axis.set_yscale(panel.y_scale, **({"nonpositive": "mask"} if panel.y_scale == "log" else {}))
    if panel.bits:
        axis.secondary_yaxis("right", functions=(_bits, _nats)).set_ylabel(panel.bits)
    if panel.ticks:
        axis.set_xticks(panel.ticks, [f"{value:g}" for value in panel.ticks])
        axis.set_xticks([], minor=True)
    elif panel.whole and panel.x_scale == "linear":
        axis.xaxis.get_major_locator().set_params(integer=True)


def _bits(nats: Any) -> Any:
    return nats / math.log(2)


def _nats(bits: Any) -> Any:
    return bits * math.log(2)


def _draw_line(axis: Any, line: Line) -> None:
    colour, dash = line.style.colour, line.style.dash
    marker, face = MARKERS[line.style.marker]
    axis.plot(
        line.x, line.mean, label=line.label, color=colour, linestyle=dash, marker=marker, markersize=4,
        markerfacecolor=face or colour,
    )  # fmt: skip
    axis.fill_between(line.x, line.low, line.high, color=colour, alpha=0.15, linewidth=0)


def _legend_of(drawing: Drawing, width: float) -> tuple[dict[str, str], int]:
    """Return each label once, with its text in lines that fit into a figure of this width, inches, and how many columns
    of them do."""
    letters = round(width * LETTERS_AN_INCH)
    labels = dict.fromkeys(line.label for row in drawing.rows for panel in row for line in panel.lines)
    widest = max(map(len, labels), default=0) + LETTERS_OF_A_LINE
    columns = max(1, min(drawing.legend_columns, len(labels), letters // widest))
    return {label: textwrap.fill(label, letters - LETTERS_OF_A_LINE) for label in labels}, columns


def _more_for_legend(labels: dict[str, str], columns: int) -> float:
    """Return how much higher, inches, a figure is for a legend that is higher than :data:`LEGEND_ROOM`."""
    lines = max((text.count("\n") + 1 for text in labels.values()), default=0)
    height = math.ceil(len(labels) / columns) * (lines * LEGEND_LINE + LEGEND_GAP)
    return max(0, height - LEGEND_ROOM)


def save(figure: Figure, folder: Path, name: str) -> None:
    """Write a figure as PNG, SVG and PDF: the same bytes for the same figure."""
    figure.draw_without_rendering()
    figure.set_layout_engine("none")  # the layout is done; savefig would repeat it four times
    write_png(figure, folder / f"{name}.png")
    _write(partial(FigureCanvasSVG(figure).print_svg, metadata={"Date": None}), folder / f"{name}.svg")
    _write(partial(FigureCanvasPdf(figure).print_pdf, metadata={"CreationDate": None}), folder / f"{name}.pdf")


def write_png(figure: Figure, path: Path) -> None:
    """Write a figure as PNG: the same bytes for the same figure."""
    _write(partial(FigureCanvasAgg(figure).print_png, metadata={"Software": None}), path)


def _write(draw: Callable[[BytesIO], object], path: Path) -> None:
    """Write what a canvas draws, so that a kill leaves no part of a picture."""
    drawn = BytesIO()
    draw(drawn)
    write_whole(path, drawn.getvalue())
