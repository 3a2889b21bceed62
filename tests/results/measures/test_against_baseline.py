"""By how many times arms end worse than a baseline."""

import math

import pytest
from scipy import stats

from lnexp.results.measures.against_baseline import geometric_interval, geometric_range, nll_ratios


def runs_of(make_run, arm, nlls):
    """Runs of seeds from 11 on that end with these nlls; None for one that diverged."""
    return [run_of(make_run, arm, 11 + number, nll) for number, nll in enumerate(nlls)]


def run_of(make_run, arm, seed, nll):
    run = make_run(arm, seed, [10.0], "diverged" if nll is None else "finished")
    run.epochs[-1]["valid_nll"] = nll or 5.0
    return run


def test_ratios_are_paired_by_seed(make_run):
    ratios = nll_ratios(runs_of(make_run, "good", [0.1, 0.3, 0.2]), reversed(runs_of(make_run, "bad", [1.0, 2.0, 3.0])))
    assert ratios == pytest.approx([0.1, 0.15, 0.2 / 3])


def test_seeds_of_diverged_runs_are_left_out(make_run):
    mine, theirs = runs_of(make_run, "good", [None, 1.0, 2.0]), runs_of(make_run, "bad", [4.0, 4.0, None])
    assert nll_ratios(mine, theirs) == [0.25]


def test_the_interval_is_students_of_the_logarithms():
    ratios = [0.1, 0.15, 0.07]
    logs = list(map(math.log, ratios))
    found = geometric_interval(ratios)
    low, high = stats.t.interval(0.95, 2, loc=stats.tmean(logs), scale=stats.sem(logs))
    assert (found.mean, found.n) == (pytest.approx(stats.gmean(ratios)), 3)
    assert (found.low, found.high) == pytest.approx((math.exp(low), math.exp(high)))


def test_one_seed_has_no_interval_and_none_no_mean():
    assert (geometric_interval([0.25]).mean, geometric_interval([0.25]).low) == (pytest.approx(0.25), None)
    assert geometric_interval([]) is geometric_range([]) is None


def test_the_range_is_that_of_the_seeds():
    found = geometric_range([0.1, 0.4, 0.2])
    assert (found.mean, found.least, found.greatest, found.n) == (pytest.approx(0.2), 0.1, 0.4, 3)
