"""Panels of one scale show one range, on a screen as on paper."""

import pytest

from lnexp.figures.draw import figure_of
from lnexp.figures.panels import Drawing, Line, LineStyle, Panel, y_ranges


def drawing(share_y: str, y_scale: str) -> Drawing:
    """Two rows of two panels, whose values are from 1 to 2, 3 to 4, and so on."""
    panels = [
        Panel(
            str(number),
            "x",
            "y",
            [Line("a", LineStyle("#000000"), [0], [low + 0.5], [low], [low + 1])],
            y_scale=y_scale,
        )
        for number, low in enumerate((1.0, 3.0, 5.0, 7.0))
    ]
    return Drawing("name", "title", "subtitle", [panels[:2], panels[2:]], (3, 3), 2, share_y)


@pytest.mark.parametrize("y_scale", ["linear", "log"])
@pytest.mark.parametrize("share_y", ["row", "col"])
def test_the_range_is_that_of_the_figure_for_paper(share_y, y_scale):
    made = drawing(share_y, y_scale)
    for found, axis in zip(y_ranges(made), figure_of(made).axes, strict=True):
        assert found == pytest.approx(axis.get_ylim(), rel=0.02)


def test_panels_of_no_common_scale_have_no_range():
    assert y_ranges(drawing("", "linear")) == [None] * 4


def test_a_panel_without_a_value_that_a_log_axis_can_show_has_none():
    empty = Panel("", "x", "y", [Line("a", LineStyle("#000000"), [0], [0.0], [0.0], [0.0])], y_scale="log")
    assert y_ranges(Drawing("name", "", "", [[empty]], (3, 3), 2, "row")) == [None]
