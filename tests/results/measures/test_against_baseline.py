"""By how many times arms end worse than a baseline."""

import math

import pytest
from scipy import stats

from lnexp.results.measures.against_baseline import nll_ratio


def runs_of(make_run, arm, nlls):
    """Runs of seeds from 11 on that end with these nlls; None for one that diverged."""
    return [run_of(make_run, arm, 11 + number, nll) for number, nll in enumerate(nlls)]


def run_of(make_run, arm, seed, nll):
    run = make_run(arm, seed, [10.0], "diverged" if nll is None else "finished")
    run.epochs[-1]["valid_nll"] = nll or 5.0
    return run


def test_the_ratio_is_paired_by_seed(make_run):
    mine, theirs = [0.1, 0.3, 0.2], [1.0, 2.0, 3.0]
    found = nll_ratio(runs_of(make_run, "good", mine), runs_of(make_run, "bad", theirs))
    logs = [math.log(a / b) for a, b in zip(mine, theirs, strict=True)]
    low, high = stats.t.interval(0.95, 2, loc=stats.tmean(logs), scale=stats.sem(logs))
    assert found.n == 3
    assert (found.mean, found.low, found.high) == pytest.approx(
        (stats.gmean([0.1, 0.15, 0.2 / 3]), math.exp(low), math.exp(high))
    )


def test_seeds_of_diverged_runs_are_left_out(make_run):
    found = nll_ratio(runs_of(make_run, "good", [None, 1.0, 2.0]), runs_of(make_run, "bad", [4.0, 4.0, None]))
    assert (found.mean, found.low, found.high, found.n) == (pytest.approx(0.25), None, None, 1)


def test_no_shared_seed_gives_no_ratio(make_run):
    assert nll_ratio(runs_of(make_run, "good", [None, 1.0]), runs_of(make_run, "bad", [1.0, None])) is None
