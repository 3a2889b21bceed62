"""How many seeds a claim needs."""

from dataclasses import replace

import numpy as np
import pytest
from helpers import ROOT, run_script

from lnexp.results.judging.claims import Origin, judge_all
from lnexp.results.judging.verdict_file import write_verdicts
from lnexp.results.statistics.intervals import interval
from lnexp.results.statistics.power import power_of_margins, power_of_mean, power_of_rate, seeds_needed, spread


def test_power_is_the_share_of_simulated_experiments_that_decide():
    drawn = np.random.default_rng(1).normal(1, 1.2, (4000, 8))
    half = 2.3646 * drawn.std(axis=1, ddof=1) / np.sqrt(8)
    assert power_of_mean(8, 1, 1.2) == pytest.approx(np.mean(drawn.mean(axis=1) - half > 0), abs=0.025)


def test_the_usual_number_for_an_effect_of_one_standard_deviation():
    assert seeds_needed(lambda n: power_of_mean(n, 1, 1)) == 10  # textbooks: 10, paired, 80%, two-sided 5%
    assert seeds_needed(lambda n: power_of_mean(n, -1, 1)) == 10
    assert seeds_needed(lambda n: power_of_mean(n, 0, 1)) is None


def test_both_conditions_of_an_equivalence_count():
    assert power_of_margins(10, [(1, 1), (9, 1)], 0.9) == pytest.approx(power_of_mean(10, 1, 1, 0.9), abs=1e-6)
    assert power_of_margins(10, [(1, 1), (1, 1)], 0.9) < power_of_mean(10, 1, 1, 0.9)
    assert power_of_margins(10, [(-1, 1), (3, 1)], 0.9) == pytest.approx(power_of_mean(10, 1, 1, 0.9))


def test_six_runs_that_all_succeed_decide_against_a_half():
    assert power_of_rate(5, 1, 0.5) == 0
    assert power_of_rate(6, 1, 0.5) == pytest.approx(1)
    assert power_of_rate(6, 0, 0.5) == pytest.approx(1)


def test_the_spread_behind_an_interval():
    found = interval([1.0, 2.0, 4.0, 9.0], 0.9)
    assert found is not None
    assert spread(found, 0.9) == pytest.approx(np.std([1, 2, 4, 9], ddof=1))


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--mean", "1", "--sd", "1"], "comparison: 10 seeds"),
        (["--rate", "1"], "success rate: 6 seeds"),
        ([str(ROOT / "results/small/toy/fig2a")], "fig2a-warmup-lowers-loss-high: comparison: 2 seeds"),
    ],
)
def test_the_command(arguments, said):
    done = run_script("power", *arguments)
    assert done.returncode == 0, done.stderr
    assert said in done.stdout


def test_seeds_do_not_decide_what_diverged_runs_leave_open(make_run, tmp_path):
    runs = [make_run("good", seed, [90.0]) for seed in (11, 12, 13)]
    runs += [make_run("bad", seed, [], "diverged") for seed in (11, 12, 13)]
    claim = make_run.claim("last_loss(bad) > last_loss(good)")
    recipe = replace(make_run.recipe, claims=[claim])
    write_verdicts(tmp_path, judge_all(recipe, runs, Origin("small", "toy", "", "make x", [])))
    assert run_script("power", str(tmp_path)).stdout == "x: not decided, because runs diverged without a value\n"


def test_the_command_asks_for_what_it_needs():
    done = run_script("power", "--mean", "1")
    assert done.returncode == 2
    assert "say a folder of results" in done.stderr
