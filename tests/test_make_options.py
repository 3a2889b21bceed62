"""``SEEDS=`` and ``OPTIONS=`` of the targets of make."""

import re
import subprocess

import pytest
from helpers import ROOT


@pytest.mark.parametrize(
    ("seeds", "trained", "measured"), [("", ["3"], ["3"]), ("5", ["5"], ["5"]), ("planned", [], [])]
)
def test_seeds_are_three_or_as_many_as_said_or_each_recipes_own(seeds, trained, measured):
    words = ["make", "-n", "-o", ".venv/installed", "reproduce-why", f"SEEDS={seeds}"]
    said = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    (trains,) = re.findall(r".*scripts/reproduce\.py.*", said)
    (probes,) = re.findall(r".*scripts/probe\.py.*", said)
    assert [re.findall(r"n_seeds=(\w+)", line) for line in (trains, probes)] == [trained, measured]


def test_probe_takes_of_the_options_those_that_it_knows():
    options = ["hydra/launcher=joblib", "data_dir=/d", "first_seed=7", "runs_dir=/r", "tracker=none"]
    known = {"theory": options[1:3], "reproduce-placements": options[1:3], "reproduce-why": options[1:4]}
    for target, expected in known.items():
        words = ["make", "-n", "-o", ".venv/installed", target, f"OPTIONS={' '.join(options)}"]
        said = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, check=True).stdout
        (probes,) = re.findall(r".*scripts/probe\.py.*", said)
        (trains,) = re.findall(r".*scripts/reproduce\.py.*", said)
        assert [option for option in options if option in probes.split()] == expected, target
        assert [option for option in options if option in trains.split()] == options
