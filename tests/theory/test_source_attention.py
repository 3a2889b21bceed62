"""The variance of attention to the source, from what the next LayerNorm is given."""

import pytest
import torch

from lnexp.theory.models import untrained_placement
from lnexp.theory.source_attention import source_variances

NARROW = [f"{side}_{what}" for side in ("encoder", "decoder") for what in ("embed_dim=32", "layers=2")]


@pytest.fixture
def probed(context):
    return untrained_placement(context, "post_ln", NARROW, 2, 200)


def test_it_is_what_a_block_adds_to_the_residual_stream(probed):
    """Post-LN normalises ``x + y``, where x is the output of the LayerNorm before, so y is their difference."""
    into, out_of = [[], []], [[], []]
    for number, layer in enumerate(probed.model.decoder.layers):
        layer.encoder_attn_layer_norm.register_forward_pre_hook(lambda _, xs, n=number: into[n].append(xs[0]))
        layer.self_attn_layer_norm.register_forward_hook(lambda _, __, x, n=number: out_of[n].append(x))
    tokens = [batch["net_input"]["prev_output_tokens"] for batch in probed.batches]
    kept = [words.t().ne(probed.criterion.padding_idx) for words in tokens]
    assert not all(positions.all() for positions in kept), "there is padding to leave out"
    with torch.no_grad():
        for batch in probed.batches:
            probed.model(**batch["net_input"])
    by_hand = {}
    for number in range(2):
        added = [(after - before)[at] for after, before, at in zip(into[number], out_of[number], kept, strict=True)]
        by_hand["decoder", number + 1] = pytest.approx(float(torch.cat(added).square().mean()), rel=1e-4)
    assert source_variances(probed) == by_hand


def test_it_leaves_no_hooks(probed):
    source_variances(probed)
    assert not any(module._forward_hooks for module in probed.model.modules())
