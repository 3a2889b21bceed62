"""Figures on paper."""

import re
from dataclasses import replace

import pytest

from lnexp.figures.draw import draw, figure_of, remove
from lnexp.figures.panels import Drawing, Line, LineStyle, Panel

pytestmark = pytest.mark.slow

PANEL = Panel("BLEU", "epoch", "", [Line("Pre-LN", LineStyle("#0072B2"), [1, 2], [3, 4], [2, 4], [5, 4])], whole=True)
DRAWING = Drawing("figure", "Fig. 2: a title", "what was measured " * 20, [[PANEL, PANEL]], (4, 3), legend_columns=2)


def test_three_files_the_same_bytes_again(tmp_path):
    draw(DRAWING, tmp_path)
    first = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    assert set(first) == {"figure.png", "figure.svg", "figure.pdf"}
    draw(DRAWING, tmp_path)
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == first


def test_letters_need_no_font_of_the_readers(tmp_path):
    draw(DRAWING, tmp_path)
    assert "<text" not in (tmp_path / "figure.svg").read_text()
    pdf = (tmp_path / "figure.pdf").read_bytes()
    assert len(re.findall(rb"/FontFile2", pdf)) == len(re.findall(rb"/Type /FontDescriptor", pdf)) > 0


def test_a_figure_with_nothing_to_show_is_gone(tmp_path):
    draw(DRAWING, tmp_path)
    remove("figure", tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_many_long_labels_leave_the_panels_their_size(tmp_path):
    def panels(labels):
        lines = [Line(label, LineStyle("#0072B2"), [1, 2], [3, 4], [2, 4], [5, 4]) for label in labels]
        figure = figure_of(replace(DRAWING, rows=[[replace(PANEL, lines=lines)] * 2]))
        figure.draw_without_rendering()
        return [axis.get_position().height * figure.get_figheight() for axis in figure.axes]

    few, many = (
        panels(["Pre-LN"]),
        panels([f"{number} with a name that is long " + "and longer " * 9 for number in range(20)]),
    )
    assert many == pytest.approx(few, rel=0.2)


def test_what_stands_between_dollars_is_no_formula():
    said = "${scale.lr_max.low} or ${scale.lr_max.high}"
    named = replace(PANEL, title=said, x_label=said, y_label=said, lines=[replace(PANEL.lines[0], label=said)])
    figure = figure_of(replace(DRAWING, title=said, subtitle="", rows=[[named]]))
    figure.draw_without_rendering()
    axis = figure.axes[0]
    legend = figure.legends[0].get_texts()[0].get_text()
    drawn = {axis.get_title(), axis.get_xlabel(), axis.get_ylabel(), legend, figure.get_suptitle()}
    assert {" ".join(text.split()) for text in drawn} == {said.replace("$", r"\$")}
