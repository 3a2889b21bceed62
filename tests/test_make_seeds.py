"""``SEEDS=`` of the targets of make."""

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
