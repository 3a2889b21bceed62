"""Changes of hidden states are those of the update, at positions without padding, without dropout."""

import dataclasses

import pytest
import torch
from torch import nn

from lnexp.training.diagnostics.state_changes import StateChanges

LAYERS = ("encoder.layers.0", "decoder.layers.0", "decoder.layers.1")


@pytest.fixture
def watching(one_update):
    return StateChanges(dataclasses.replace(one_update.watched, state_changes=True))


def _found(watching, change) -> dict[str, float]:
    watching.begin()
    with torch.no_grad():
        change()
    return {name: float(value) for name, value in watching.end().items()}


def test_nothing_changes_without_an_update(watching):
    assert _found(watching, lambda: None) == {f"state_change.{name}": 0 for name in LAYERS}


def test_it_is_the_squared_change_against_the_squared_size(one_update, watching):
    """A last LayerNorm whose output is scaled by 1.1 changes it by a tenth, and no layer before it."""
    layer = one_update.model.decoder.layers[-1].final_layer_norm
    found = _found(watching, lambda: [one.mul_(1.1) for one in layer.parameters()])
    assert found["state_change.decoder.layers.1"] == pytest.approx(0.01, rel=1e-4)
    assert found["state_change.encoder.layers.0"] == found["state_change.decoder.layers.0"] == 0


def test_padding_does_not_count(one_update, watching):
    kept = one_update.model.kept(**one_update.batch["net_input"])["encoder"].unsqueeze(2)
    scale = torch.ones(())
    one_update.model.encoder.layers[0].register_forward_hook(
        lambda _, __, out: torch.where(kept, 1 + 0 * out, scale * (1 + 0 * out))
    )
    assert _found(watching, lambda: scale.mul_(9))["state_change.encoder.layers.0"] == 0


def test_the_training_is_left_as_it_was(one_update, watching):
    for module in one_update.model.modules():
        if isinstance(module, nn.Dropout) or hasattr(module, "dropout_module"):
            getattr(module, "dropout_module", module).p = 0.5
    drawn = torch.get_rng_state()
    assert _found(watching, lambda: None)["state_change.encoder.layers.0"] == 0, "no dropout"
    assert torch.equal(torch.get_rng_state(), drawn)
    assert one_update.model.training
    assert not any(layer._forward_hooks for layer in one_update.model.encoder.layers)


def test_it_is_measured_where_it_is_asked_for_alone(one_update, watching):
    assert one_update.watched_by(StateChanges) == {}
    assert _found(watching, lambda: None)
    assert watching.end() == {}, "of one update"
