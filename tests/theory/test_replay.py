"""An encoder whose sublayers give again what they gave is the encoder itself."""

import pytest
import torch

from lnexp.plugin.model import PLACEMENTS
from lnexp.theory.models import kept_positions, untrained_placement
from lnexp.theory.replay import recorded, replayed

SMALL = [
    f"{side}_{what}" for side in ("encoder", "decoder") for what in ("embed_dim=32", "ffn_embed_dim=32", "layers=2")
]


@torch.no_grad()
@pytest.mark.parametrize("placement", sorted(PLACEMENTS))
def test_what_was_recorded_gives_the_same_outputs(context, placement):
    probed = untrained_placement(context, placement, SMALL, 1, 200)
    (batch,) = probed.batches
    branches, outputs = recorded(probed.model, batch["net_input"])
    kept = kept_positions(probed.model, batch["net_input"])["encoder"]
    assert not kept.all(), "there is padding to leave out"
    assert outputs.shape[:2] == (4, kept.sum())
    assert len(branches) == 4
    assert torch.equal(replayed(probed.model, batch["net_input"], branches), outputs)
