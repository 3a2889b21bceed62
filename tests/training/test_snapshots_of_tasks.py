"""Snapshots of runs that translate nothing: alone, in arrays, and without an effect on training."""

import pytest
import torch
from helpers import TINY_CORPUS, TINY_ENCODER, recorded_by

from lnexp.runs import records
from lnexp.training.engine import Engine

COMMON = ["data=bert_toy", TINY_CORPUS, *TINY_ENCODER, "tracker=none", "warmup_updates=5", "model.dropout=0.1"]
TINY = {
    "masked_lm": ["task=masked_lm", "blocks.tokens=32", *COMMON],
    "sentence_pairs": ["task=sentence_pairs", "start.epoch=0", *COMMON],
}
LOOKED_AT = ("diagnostics.at=[1,3,8]", "diagnostics.sharpness=4", "diagnostics.state_changes=true")


def snapshots(engine: Engine, member: int = 0) -> list[dict]:
    return records.of_kind("snapshot", recorded_by(engine, member))


@pytest.mark.slow
@pytest.mark.parametrize("task", TINY)
def test_those_of_an_array_are_those_of_runs_of_their_own(build, task):
    rates = [(*LOOKED_AT, "model.dropout=0", f"lr_max={rate}") for rate in (4e-3, 1e-3)]
    together = build(*rates, name="array", array=True, tiny=TINY[task])
    together.train()
    for number, own in enumerate(rates):
        alone = build(own, name=f"alone{number}", tiny=TINY[task])
        alone.train()
        pairs = list(zip(*(snapshots(*one) for one in ((together, number), (alone,))), strict=True))
        assert len(pairs) == 3
        for one, other in pairs:
            assert one.keys() == other.keys() >= {"sharpness.loss", "state_change.encoder", "log_z.output"}
            for name in one.keys() - {"kind"}:
                torch.testing.assert_close(torch.tensor(one[name]), torch.tensor(other[name]), rtol=1e-3, atol=1e-5)


@pytest.mark.slow
@pytest.mark.parametrize("task", TINY)
@pytest.mark.parametrize("option", ["diagnostics.sharpness=2", "diagnostics.state_changes=true"])
def test_what_looks_at_one_minibatch_changes_no_number_of_the_training(build, task, option):
    """The minibatch is of the first epoch, whose masks are others than those of the epoch that is trained."""
    plain = build(("max_epoch=3",), name="plain", tiny=TINY[task])
    plain.train()
    an_epoch = plain.updates // 3
    at = f"diagnostics.at=[{an_epoch + 2}]"
    looked_at = build(("max_epoch=3", at, option), name="looked", tiny=TINY[task])
    looked_at.train()
    assert [
        one["epoch"] for one in snapshots(looked_at) if {"sharpness.loss", "state_change.encoder"} & one.keys()
    ] == [2]
    assert [one for one in recorded_by(looked_at) if one["kind"] != "snapshot"] == recorded_by(plain)
