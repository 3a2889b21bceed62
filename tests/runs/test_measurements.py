"""Probes and diagnostics decide no run, so that one can have been trained with others than are asked now."""

import pytest
from helpers import TINY

from lnexp.configuration import compose
from lnexp.plain import plain
from lnexp.runs.measurements import lacking, measured_otherwise


def of(*overrides: str):
    return compose([*TINY, *overrides])


@pytest.mark.parametrize(
    ("before", "now", "differing"),
    [
        ([], [], []),
        (["diagnostics.at=log"], ["diagnostics.at=log"], []),
        (["probes.every=5"], [], ["probes"]),
        ([], ["probes.every=5", "diagnostics.at=[1,2]"], ["probes", "diagnostics"]),
        (["diagnostics.at=log"], ["diagnostics.at=log", "diagnostics.sharpness=2"], ["diagnostics"]),
    ],
)
def test_what_differs_is_named(before, now, differing):
    assert measured_otherwise(of(*now), plain(of(*before))) == differing


def test_a_run_that_says_nothing_differs_in_nothing_and_an_older_one_had_no_diagnostics():
    assert measured_otherwise(of("probes.every=5"), {}) == []
    older = plain(of())
    del older["diagnostics"]
    assert measured_otherwise(of(), older) == []
    assert measured_otherwise(of("diagnostics.at=log"), older) == ["diagnostics"]


def test_a_run_that_is_over_lacks_what_is_asked_and_was_not_measured(folder):
    folder.write_config(of("probes.every=5", "diagnostics.at=[1]"))
    words = "trained with other diagnostics; force=true trains it afresh with these"
    assert lacking(of("diagnostics.at=log"), folder) == words
    assert lacking(of(), folder) == "", "nothing is asked"
