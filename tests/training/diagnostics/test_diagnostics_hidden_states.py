"""Sizes of hidden states are those of words, and of Post-LN 1."""

import pytest
import torch

from lnexp.training.diagnostics.hidden_states import HiddenStates


def test_post_ln_gives_out_one(one_update):
    found = one_update.watched_by(HiddenStates)
    layers = ("decoder.layers.0", "decoder.layers.1", "encoder.layers.0")
    assert sorted(found) == [f"{measure}.{name}" for measure in ("hidden_cosine", "hidden_state") for name in layers]
    for name in layers:
        assert float(found[f"hidden_state.{name}"]) == pytest.approx(1, abs=1e-3), name
        assert 0 < float(found[f"hidden_cosine.{name}"]) < 0.9, name


def test_padding_does_not_count_and_batches_count_by_their_positions(one_update):
    layer = one_update.model.encoder.layers[0]
    batch = one_update.batch["net_input"]
    kept = one_update.model.kept(**batch)["encoder"].unsqueeze(2)
    size = torch.where(kept, 2.0, 100.0)
    layer.register_forward_hook(lambda _, __, out: size.expand_as(out) + 0 * out)
    watching = HiddenStates(one_update.watched)
    watching.begin()
    for _ in range(2):
        one_update.criterion(one_update.model, one_update.batch)
    found = watching.end()
    assert float(found["hidden_state.encoder.layers.0"]) == 4
    assert len(layer._forward_hooks) == 1, "that of this test"


def test_the_cosine_is_the_mean_over_all_pairs_of_positions(one_update):
    layer, batch = one_update.model.encoder.layers[0], one_update.batch["net_input"]
    kept = one_update.model.kept(**batch)["encoder"]
    torch.manual_seed(3)
    states = torch.randn(*kept.shape, 32) + 0.5
    layer.register_forward_hook(lambda _, __, out: states + 0 * out)
    found = one_update.watched_by(HiddenStates)["hidden_cosine.encoder.layers.0"]
    words = states[kept]
    pairs = torch.nn.functional.cosine_similarity(words.unsqueeze(0), words.unsqueeze(1), dim=2)
    assert float(found) == pytest.approx(float(pairs.mean()), rel=1e-5)
