"""Panels of one scale show one range, on a screen as on paper; of many values, evenly spaced ones are shown."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lnexp.figures.draw import figure_of
from lnexp.figures.panels import (
    MOST_BANDS,
    Drawing,
    Line,
    LineStyle,
    Panel,
    evenly_spaced,
    with_few_bands,
    y_ranges,
)


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


def test_a_panel_can_have_its_own_range():
    made = drawing("col", "linear")
    made.rows[1][0] = replace(made.rows[1][0], own_y=True)
    assert [found is None for found in y_ranges(made)] == [False, False, True, False]
    first, _, own, _ = (axis.get_ylim() for axis in figure_of(made).axes)
    assert first[1] < 3 < own[0], "neither has the values of the other"


def test_titles_that_repeat_below_each_other_stand_once():
    made = drawing("", "linear")
    assert [axis.get_title() for axis in figure_of(made).axes] == ["0", "1", "2", "3"]
    assert [axis.get_xlabel() for axis in figure_of(made).axes] == ["", "", "x", "x"]
    made.rows[1][:] = [replace(below, title=above.title) for above, below in zip(*made.rows, strict=True)]
    assert [axis.get_title() for axis in figure_of(made).axes] == ["0", "1", "", ""]


def test_numbers_of_a_shared_range_stand_at_the_first_panel_of_a_row():
    figure = figure_of(drawing("row", "log"))
    shown = [axis.yaxis.get_tick_params(which="minor")["labelleft"] for axis in figure.axes]
    assert shown == [True, False, True, False]


@pytest.mark.parametrize("lines", [MOST_BANDS, MOST_BANDS + 1])
def test_bands_that_hide_each_other_are_left_out(lines):
    panel = Panel("", "x", "y", [Line("a", LineStyle("#000000"), [0], [1.5], [1.0], [2.0])] * lines)
    [[found]], said = with_few_bands([[panel]])
    assert ("bands" in said) == (lines <= MOST_BANDS)
    assert {(line.low[0], line.mean[0], line.high[0]) for line in found.lines} == {
        (1.0, 1.5, 2.0) if lines <= MOST_BANDS else (1.5, 1.5, 1.5)
    }


@given(st.integers(1, 200), st.integers(2, 10))
def test_both_ends_are_shown_and_nothing_twice(count, most):
    values = [float(value) for value in range(count)]
    shown = evenly_spaced(values, most)
    assert (shown[0], shown[-1]) == (values[0], values[-1])
    assert len(set(shown)) == len(shown) == min(count, most)


@pytest.mark.parametrize(("count", "shown"), [(3, [0, 1, 2]), (7, [0, 2, 4, 6])])
def test_few_are_all_shown(count, shown):
    assert evenly_spaced([float(value) for value in range(count)], 4) == shown
