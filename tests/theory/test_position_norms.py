"""Norms of hidden states on minibatches."""

import pytest
import torch

from lnexp.theory.by_layer import mean_norms
from lnexp.theory.models import untrained_placement

NARROW = [f"{side}_{what}" for side in ("encoder", "decoder") for what in ("embed_dim=32", "layers=2")]


@pytest.mark.parametrize("placement", ["post_ln", "pre_ln"])
def test_the_mean_is_over_all_positions_that_are_no_padding(placement, context):
    probed = untrained_placement(context, placement, NARROW, 2, 80)
    rows = mean_norms(probed)
    assert [(row["side"], row["layer"]) for row in rows] == [
        (side, layer) for side in ("encoder", "decoder") for layer in (1, 2)
    ]
    by_hand, positions = 0.0, 0
    for batch in probed.batches:
        inputs = batch["net_input"]
        with torch.no_grad():
            *_, out = probed.model(**inputs, features_only=True)[1]["inner_states"]  # behind the last layer
        kept = inputs["prev_output_tokens"].ne(probed.criterion.padding_idx)
        by_hand += float(out.transpose(0, 1)[kept].pow(2).sum()) / 32
        positions += int(kept.sum())
    assert rows[-1]["output"] == pytest.approx(by_hand / positions, rel=1e-5)
    if placement == "post_ln":
        assert [row["output"] for row in rows] == pytest.approx([1] * 4, rel=1e-3), "the last thing is a LayerNorm"
