"""Snapshots change no number of a training, and say what was found where and when."""

import pytest
import torch
from helpers import recorded_by

from lnexp.errors import UserError
from lnexp.runs import records
from lnexp.runs.snapshot_updates import is_due
from lnexp.training.engine import Engine
from lnexp.training.snapshots import by_layer

ALL_MEASURED = ("diagnostics.at=[1,3]", "diagnostics.sharpness=4", "diagnostics.state_changes=true")
SETTINGS = ("max_epoch=1", "model.dropout=0.1", "model.decoder_layers=2")


@pytest.fixture
def train(build):
    def trained(name: str, seeds: tuple[int, ...], *overrides: str, array: bool = True) -> Engine:
        engine = build(*((*SETTINGS, f"seed={seed}", *overrides) for seed in seeds), name=name, array=array)
        engine.train()
        return engine

    return trained


def snapshots(engine: Engine, member: int = 0) -> list[dict]:
    return records.of_kind("snapshot", recorded_by(engine, member))


@pytest.mark.slow
@pytest.mark.parametrize("model", ["post_ln", "residual"])
def test_hidden_states_are_those_that_a_probe_sees(train, model):
    """Both look at the first minibatch before the first update; ResiDual's layers give out two streams."""
    settings = (f"model={model}", "model.dropout=0", "diagnostics.at=[1]", "probes.every=1000", "probes.batches=1")
    engine = train("run", (1,), *settings, array=False)
    (snapshot,) = snapshots(engine)
    probed = [record for record in records.of_kind("probe", recorded_by(engine)) if "output" in record]
    assert snapshot["hidden_state.decoder"] == pytest.approx(
        [record["output"] for record in probed if record["side"] == "decoder"], rel=1e-3
    )


@pytest.mark.slow
@pytest.mark.parametrize("array", [False, True])
@pytest.mark.parametrize("model", ["pre_ln", "admin"])
def test_they_change_no_number_of_the_training(train, model, array):
    seeds = (1, 2) if array else (1,)
    plain = train("plain", seeds, f"model={model}", array=array)
    asked = ("diagnostics.at=log", "diagnostics.sharpness=2", "diagnostics.state_changes=true")
    looked_at = train("looked", seeds, f"model={model}", *asked, array=array)
    for number in plain.members:
        others = [record for record in recorded_by(looked_at, number) if record["kind"] != "snapshot"]
        assert others == recorded_by(plain, number)
        assert [record["update"] for record in snapshots(looked_at, number)] == [
            update for update in range(1, plain.updates + 1) if is_due("log", update)
        ]
    for one, other in zip(plain.model.parameters(), looked_at.model.parameters(), strict=True):
        assert torch.equal(one, other)


@pytest.mark.slow
def test_an_arrays_members_have_those_of_their_own_runs(train):
    together = train("together", (1, 2), *ALL_MEASURED, "model.dropout=0")
    for number, seed in enumerate((1, 2)):
        alone = train(f"alone{seed}", (seed,), *ALL_MEASURED, "model.dropout=0", array=False)
        for one, other in zip(snapshots(alone), snapshots(together, number), strict=True):
            assert one.keys() == other.keys()
            assert one["sharpness.loss"][0] > 0
            for key in one.keys() - {"kind"}:
                # a bias of keys is rounding, along which Adam walks: no matrix, but it moves what follows
                assert other[key] == pytest.approx(one[key], rel=2e-3), key


@pytest.mark.slow
def test_they_name_every_attention_and_every_matrix_once(train):
    (first,) = snapshots(train("run", (1,), "diagnostics.at=[1]", array=False))
    assert len(first["attention_logit.decoder.encoder_attn"]) == len(first["relative_update.decoder.fc1"]) == 2
    assert {"attention_logit.encoder.self_attn", "attention_logit.decoder.self_attn"} < first.keys()
    assert {"angular_update.encoder.embed_tokens", "angular_update.decoder.embed_tokens"} < first.keys()
    sizes = [key for key in first if key.startswith("relative_update.")]
    assert len(sizes) == 6 + 10 + 2, "of encoder, decoder, and their embeddings; the output has that of the decoder"


def test_log_looks_often_at_first_and_seldom_later():
    due = [update for update in range(1, 10_001) if is_due("log", update)]
    assert due[:12] == [1, 2, 3, 4, 5, 6, 7, 8, 10, 11, 13, 16]
    assert (sum(update <= 480 for update in due), len(due)) == (31, 49)
    assert [update for update in range(1, 10) if is_due([2, 7], update)] == [2, 7]
    assert not is_due([], 1)


def test_layers_of_a_stack_are_one_list():
    numbers = {"size.encoder.layers.0.fc1": 1.23456, "size.encoder.layers.2.fc1": 2.0, "size.embedding": 3.0}
    assert by_layer(numbers) == {"size.encoder.fc1": [1.235, None, 2.0], "size.embedding": [3.0]}


@pytest.mark.parametrize("model", ["pre_ln", "post_ln", "rezero", "admin", "peri_ln", "hybrid_norm"])
def test_every_placement_has_a_sharpness(train, model):
    settings = ("diagnostics.at=[1]", "diagnostics.sharpness=2", "max_update=1")
    (first,) = snapshots(train("run", (1,), *settings, f"model={model}", array=False))
    assert first["sharpness.loss"][0] is not None


def test_the_first_update_of_a_layer_changes_what_it_gives_out_and_what_follows(train):
    """Layers are changed by the whole update: those of a model trained at a hundredth of the rate change far less."""
    settings = ("diagnostics.at=[1]", "diagnostics.state_changes=true", "max_update=1", "warmup_updates=1")
    found = {
        rate: snapshots(train(f"run{rate}", (1,), *settings, f"lr_max={rate}", array=False))[0] for rate in (1e-5, 1e-3)
    }
    for side in ("encoder", "decoder"):
        small, large = (found[rate][f"state_change.{side}"] for rate in (1e-5, 1e-3))
        assert all(0 < one < 0.01 * other for one, other in zip(small, large, strict=True))


def test_it_is_refused_where_activations_are_computed_again(train):
    settings = ("diagnostics.at=[1]", "diagnostics.sharpness=2", "model.checkpoint_activations=true")
    with pytest.raises(UserError, match=r"diagnostics.sharpness=2: needs activations as they are"):
        train("run", (1,), *settings, array=False)
