"""The benchmark of snapshots compares updates of the same batch, with a snapshot and without, in either order."""

import re

import pytest
from helpers import TINY

from lnexp.benchmarks import snapshot_cost
from lnexp.benchmarks.stock import SAME_BATCHES, engine_of
from lnexp.configuration import check_and_resolve, compose
from lnexp.runs.records import read

OPTIONS = [option for option in TINY if option not in (*SAME_BATCHES, *snapshot_cost.SETTINGS)]


def test_every_second_update_has_a_snapshot_and_the_order_alternates(prepared, tmp_path):
    cfg = check_and_resolve(compose([*snapshot_cost.SETTINGS, *OPTIONS, f"data_dir={prepared}"]))
    with engine_of(cfg) as engine:
        timed = snapshot_cost._Timed(engine, tmp_path / "metrics.jsonl")
        batch = next(iter(engine.trainer.get_train_iterator(1).next_epoch_itr(shuffle=False)))
        seconds = [timed.pair(batch) for _ in range(3)]
        assert engine.updates == 6
    assert [record["update"] for record in read(tmp_path / "metrics.jsonl")] == [1, 4, 5]
    assert min(min(pair) for pair in seconds) > 0


@pytest.mark.slow
def test_a_run_and_an_array_have_a_row(prepared, monkeypatch):
    monkeypatch.setattr(snapshot_cost, "MEMBERS", (1, 2))
    monkeypatch.setattr(snapshot_cost, "ROUNDS", 1)
    heads, _, *rows = snapshot_cost.table([*OPTIONS, f"data_dir={prepared}"]).splitlines()
    snapshots, of_updates = map(int, re.search(r"(\d+) snapshots in (\d+) updates", heads).groups())
    cells = [[cell.strip() for cell in row.strip("|").split("|")] for row in rows]
    assert [row[0] for row in cells] == ["1", "2"]
    for _, updates, percent in cells:
        expected = 100 * float(updates) * snapshots / of_updates
        assert float(percent.removesuffix("%")) == pytest.approx(expected, abs=0.05 + 0.5 * snapshots / of_updates)
