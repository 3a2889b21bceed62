"""The benchmark of training times both trainers on the same work."""

import math

import pytest
from helpers import TINY

from lnexp.benchmarks import training_speed
from lnexp.benchmarks.stock import PLACEMENTS, TRAINING_ALONE, TimedTrainer, engine_of, stock_config, stock_trainer
from lnexp.configuration import check_and_resolve, compose

#: Of the benchmark's own options, less those that it sets itself.
SMALLEST = [option for option in TINY if option not in TRAINING_ALONE]


@pytest.mark.parametrize("placement", PLACEMENTS)
def test_both_sides_train_equally_many_weights_on_the_same_batches(placement, prepared):
    words = [f"model={placement}", *TRAINING_ALONE, *SMALLEST, f"data_dir={prepared}"]
    cfg = check_and_resolve(compose(words))
    with engine_of(cfg) as engine:
        ours, stock = TimedTrainer.of(engine), stock_trainer(stock_config(cfg, engine.corpus, placement))
        batches = [_batches(trainer) for trainer in (ours, stock)]
        weights = [sum(weight.numel() for weight in side.trainer.model.parameters()) for side in (ours, stock)]
    assert batches[0] == batches[1]
    assert len(batches[0]) > 1
    assert weights[0] == weights[1]


def _batches(side: TimedTrainer) -> list[list[int]]:
    """Return the sentences of each batch of an epoch, in their order."""
    return [batch["id"].tolist() for batch in side.trainer.get_train_iterator(1).next_epoch_itr(shuffle=True)]


@pytest.mark.slow
def test_each_placement_has_a_row_of_its_medians(prepared, monkeypatch):
    monkeypatch.setattr(training_speed, "ROUNDS", 2)
    heads, _, *rows = training_speed.table([*SMALLEST, f"data_dir={prepared}"]).splitlines()
    assert [head.strip() for head in heads.strip("|").split("|")] == [
        "model", "lnexp", "fairseq-train", "ratio", "cores",
    ]  # fmt: skip
    cells = [[cell.strip() for cell in row.strip("|").split("|")] for row in rows]
    assert [row[0] for row in cells] == list(PLACEMENTS)
    for _, *numbers in cells:
        assert all(math.isfinite(float(number)) and float(number) > 0 for number in numbers)
