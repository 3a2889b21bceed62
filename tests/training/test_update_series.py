"""Every update is recorded once: also of a run that diverges, or is stopped within an epoch."""

import os
import signal

import pytest
from helpers import series

from lnexp.runs import records
from lnexp.training.engine import Engine

pytestmark = pytest.mark.slow
WILD = ("optimizer=sgd", "lr_max=1e30", "warmup_updates=8")


def updates_of(engine: Engine, member: int = 0) -> list[dict]:
    return records.of_kind("updates", records.read(engine.members[member].folder.metrics))


def of_member(engine: Engine, name: str, member: int = 0) -> list[float | None]:
    return series(engine.members[member].folder.path, name)


def test_a_series_has_the_numbers_that_epoch_records_are_means_of(build):
    engine = build(("max_tokens=100000", "max_epoch=3"))
    engine.train()
    epochs = engine.members[0].folder.epochs()
    assert [record["update"] for record in epochs] == [1, 2, 3], "so an epoch's means are those of one update"
    for name in ("train_loss", "grad_norm"):
        assert of_member(engine, name) == pytest.approx([record[name] for record in epochs], rel=1e-4)


def test_a_member_of_an_array_has_the_series_of_its_own_run(build):
    low = "lr_max=1e-4"  # at a high rate rounding grows along training, on some processors to 6e-4
    alone = build(("seed=2", low))
    together = build(("seed=1", low), ("seed=2", low), name="array", array=True)
    for engine in (alone, together):
        engine.train()
    assert [(record["epoch"], record["update"]) for record in updates_of(together)] == [
        (record["epoch"], record["update"]) for record in together.members[0].folder.epochs()
    ], "one an epoch"
    for name in ("train_loss", "grad_norm"):
        assert len(of_member(alone, name)) == alone.updates
        assert of_member(together, name, 1) == pytest.approx(of_member(alone, name), rel=2e-4)


def test_an_epoch_whose_last_batch_made_no_update_has_its_series_before_its_record(build, monkeypatch):
    """As in fp16, where the gradients of that batch overflow: then nobody is called after an update."""
    engine = build(("max_epoch=2",))
    monkeypatch.setattr(engine, "_look_at_update", lambda: engine._series.add())
    engine.train()
    kinds = [record["kind"] for record in records.read(engine.members[0].folder.metrics)]
    assert kinds == ["updates", "epoch"] * 2
    assert len(of_member(engine, "train_loss")) == engine.updates
    assert [record["epoch"] for record in updates_of(engine)] == [1, 2]


@pytest.mark.parametrize("array", [False, True])
def test_a_diverged_run_has_the_update_that_could_not_be_made(build, array):
    engine = build(WILD, *([("seed=2",)] if array else []), array=array)
    engine.train()
    (_, made) = engine.diverged[0]
    (record,) = updates_of(engine)
    assert record["update"] == len(record["grad_norm"]) == made + 1
    assert record["grad_norm"][-1] is None
    assert None not in record["grad_norm"][:-1]
    assert record["train_loss"][0] > 0
    if array:
        assert len(of_member(engine, "train_loss", 1)) == engine.updates, "the other trains on"


class StopHereError(Exception):
    """What a signal does in a test."""


def test_a_run_that_is_stopped_within_an_epoch_has_every_update_once(build, monkeypatch):
    undisturbed = build(("model.dropout=0.1",), name="calm")
    undisturbed.train()

    def stop(number, frame):
        raise StopHereError

    engine = build(("model.dropout=0.1",))
    before = signal.signal(signal.SIGUSR1, stop)
    engine.trainer.before_update.append(lambda: engine.updates == 2 and os.kill(os.getpid(), signal.SIGUSR1))
    with pytest.raises(StopHereError):
        engine.train()
    signal.signal(signal.SIGUSR1, before)
    folder = engine.members[0].folder
    update = folder.saved.last_update_within()
    assert [(record["epoch"], record["update"]) for record in updates_of(engine)] == [(1, update)]
    folder.append({"kind": "updates", "epoch": 1, "update": update + 1, "train_loss": [1.0], "grad_norm": [1.0]})
    folder.drop_after(0, update)  # as a run begins that was killed later in the epoch
    again = build(("model.dropout=0.1",))
    again.train()
    assert [record["epoch"] for record in updates_of(again)] == [1, 1, 2]
    for name in ("train_loss", "grad_norm"):
        assert of_member(again, name) == of_member(undisturbed, name)
