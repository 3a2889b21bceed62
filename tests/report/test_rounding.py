"""Numbers of the page that are only drawn are rounded."""

from lnexp.report.rounding import rounded


def test_numbers_that_are_drawn_are_rounded_and_their_updates_are_not():
    drawn = {"name": "a", "points": [{"x": [123456.5, 130000.25], "y": [1.23456, 0.000123456]}]}
    assert rounded(drawn) == {"name": "a", "points": [{"x": [123456.5, 130000.25], "y": [1.235, 0.0001235]}]}


def test_ticks_are_where_their_points_are():
    assert rounded({"ticks": [16512.0, 33024.0]}) == {"ticks": [16512.0, 33024.0]}


def test_counts_flags_and_what_is_missing_stay_as_they_are():
    kept = {"runs": 1234567, "good": True, "missing": None}
    assert rounded(kept) == kept
