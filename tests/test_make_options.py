"""``SEEDS=`` and ``OPTIONS=`` of the targets of make."""

import re
import shlex
import subprocess

import pytest
from helpers import ROOT, run_script


@pytest.mark.parametrize(
    ("seeds", "trained", "measured"), [("", ["3"], ["3"]), ("5", ["5"], ["5"]), ("planned", [], [])]
)
def test_seeds_are_three_or_as_many_as_said_or_each_recipes_own(seeds, trained, measured):
    words = ["make", "-n", "-o", ".venv/installed", "reproduce-why", f"SEEDS={seeds}"]
    said = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    (trains,) = re.findall(r".*scripts/reproduce\.py.*", said)
    (probes,) = re.findall(r".*scripts/probe\.py.*", said)
    assert [re.findall(r"n_seeds=(\w+)", line) for line in (trains, probes)] == [trained, measured]


@pytest.mark.parametrize("target", ["theory", "reproduce-placements", "reproduce-why"])
def test_what_measures_gets_all_options_and_leaves_out_others(target):
    options = "OPTIONS=hydra/launcher=joblib data_dir='/a b'"
    words = ["make", "-n", "-o", ".venv/installed", target, options]
    said = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    (probes,) = re.findall(r".*scripts/probe\.py.*", said)
    (trains,) = re.findall(r".*scripts/reproduce\.py.*", said)
    for line in (probes, trains):
        assert [word for word in shlex.split(line) if "/" in word][-2:] == ["hydra/launcher=joblib", "data_dir=/a b"]
    assert "--leave-out-others" in probes


def test_options_of_training_are_left_out_of_measurements(tmp_path):
    words = ["+recipe=theory_lemma1", "n_seeds=1", "hydra/launcher=joblib", "tracker=none", "arms=x", "runs_dir=/x"]
    done = run_script("probe", *words, "--results", str(tmp_path))
    assert done.returncode == 2
    done = run_script("probe", "--leave-out-others", *words, "--results", str(tmp_path))
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "theory/gaussian/theory_lemma1/verdicts.json").is_file()
