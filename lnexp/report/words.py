"""Figures in words, for whoever does not see them."""

from lnexp.figures.panels import Line, Panel

#: More lines are not read out.
MOST_LINES = 12


def in_words(panel: Panel) -> str:
    """What a panel shows: where each line begins and ends, or, of a few points, all of them."""
    lines = [_line(line) for line in panel.lines[:MOST_LINES] if line.x]
    more = sum(bool(line.x) for line in panel.lines) - len(lines)
    axes = f"{' '.join(panel.y_label.split()) or panel.title.splitlines()[-1]} by {panel.x_label}"
    return f"{axes}. " + "; ".join([*lines, *([f"and {more} more lines"] if more > 0 else [])]) + "."


def _line(line: Line) -> str:
    ends = f"{line.mean[0]:.4g} at {line.x[0]:g}"
    if len(line.x) > 1:
        ends += f", {line.mean[-1]:.4g} at {line.x[-1]:g}"
    return f"{line.label}: {ends}"
