"""The benchmark of probing says the same cost in updates and as a part of training."""

import pytest
from helpers import TINY

from lnexp.benchmarks import probing_cost
from lnexp.benchmarks.stock import PLACEMENTS, TRAINING_ALONE


@pytest.mark.slow
def test_a_probe_costs_a_part_of_the_updates_between_two(prepared, monkeypatch):
    monkeypatch.setattr(probing_cost, "ROUNDS", 1)
    monkeypatch.setattr(probing_cost, "UPDATES", 3)
    options = [option for option in TINY if option not in TRAINING_ALONE]
    heads, _, *rows = probing_cost.table([*options, f"data_dir={prepared}"]).splitlines()
    assert f"slower with probes.every={probing_cost.EVERY}" in heads
    cells = [[cell.strip() for cell in row.strip("|").split("|")] for row in rows]
    assert [row[0] for row in cells] == list(PLACEMENTS)
    for _, updates, percent in cells:
        assert float(updates) > 0
        assert float(percent.removesuffix("%")) == pytest.approx(100 * float(updates) / probing_cost.EVERY, abs=0.56)
