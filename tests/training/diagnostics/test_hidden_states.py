"""Sizes of hidden states are those of words, and of Post-LN 1."""

import pytest
import torch

from lnexp.training.diagnostics.hidden_states import HiddenStates


def test_post_ln_gives_out_one(one_update):
    found = one_update.watched_by(HiddenStates)
    assert sorted(found) == [
        f"hidden_state.{name}" for name in ("decoder.layers.0", "decoder.layers.1", "encoder.layers.0")
    ]
    for name, value in found.items():
        assert float(value) == pytest.approx(1, abs=1e-3), name


def test_padding_does_not_count_and_batches_count_by_their_positions(one_update):
    layer = one_update.model.encoder.layers[0]
    batch = one_update.batch["net_input"]
    kept = one_update.model.kept(**batch)["encoder"].unsqueeze(2)
    size = torch.where(kept, 2.0, 100.0)
    layer.register_forward_hook(lambda _, __, out: size.expand_as(out).clone())
    watching = HiddenStates(one_update.watched)
    watching.begin()
    for _ in range(2):
        one_update.criterion(one_update.model, one_update.batch)
    assert float(watching.end()["hidden_state.encoder.layers.0"]) == 4
    assert not any(layer._forward_hooks and "partial" in repr(hook) for hook in layer._forward_hooks.values())
