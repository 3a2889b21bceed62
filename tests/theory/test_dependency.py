"""Shares of sublayers in the residual stream, against what hooks on the model's own modules see."""

from dataclasses import replace

import pytest
import torch

from lnexp.errors import UserError
from lnexp.theory.dependency import own_shares, shares_of_all
from lnexp.theory.models import kept_positions, untrained_placement

WIDTH = 128
SMALL = [f"{side}_{what}" for side in ("encoder", "decoder") for what in (f"embed_dim={WIDTH}", "ffn_embed_dim=64")]
SMALL = [*SMALL, "encoder_layers=2", "decoder_layers=1"]


@pytest.fixture
def probe(context):
    def build(placement):
        return untrained_placement(context, placement, SMALL, 2, 200)

    return build


def variance(x):
    return (x - x.mean(-1, keepdim=True)).double().square().mean()


def by_hooks(probed, hooked):
    """Return ``Var[f] / Var[x + f]`` of each block, given pairs of x and x + f, each ``(time, batch, d)``."""
    kept = [kept_positions(probed.model, batch["net_input"])["encoder"] for batch in probed.batches]
    assert not all(positions.all() for positions in kept), "there is padding to leave out"
    shares = []
    for of_block in hooked:
        branch = torch.cat([(after - before)[at] for (before, after), at in zip(of_block, kept, strict=True)])
        stream = torch.cat([after[at] for (_, after), at in zip(of_block, kept, strict=True)])
        shares.append(float(variance(branch) / variance(stream)))
    return shares


def test_post_ln_is_what_its_norms_see(probe):
    """Post-LN's norms are given x + f, and the norm before gives x; the first block's x is the embedding."""
    probed = probe("post_ln")
    seen = []
    for layer in probed.model.encoder.layers:
        for norm in (layer.self_attn_layer_norm, layer.final_layer_norm):
            norm.register_forward_hook(lambda _, into, out: seen.append((into[0], out)))
    with torch.no_grad():
        for batch in probed.batches:
            probed.model.encoder(batch["net_input"]["src_tokens"], batch["net_input"]["src_lengths"])
    batches = [seen[:4], seen[4:]]
    hooked = [[(of_batch[block - 1][1], of_batch[block][0]) for of_batch in batches] for block in range(1, 4)]
    # the LayerNorm that follows removes two of the noise's channels
    assert own_shares(probed)[1:] == pytest.approx(by_hooks(probed, hooked), rel=0.06)


def test_pre_ln_is_what_its_norms_see(probe):
    """Pre-LN's norms are given x, and that of the next block, or the final one, x + f."""
    probed = probe("pre_ln")
    seen = []
    encoder = probed.model.encoder
    norms = [norm for layer in encoder.layers for norm in (layer.self_attn_layer_norm, layer.final_layer_norm)]
    for norm in (*norms, encoder.layer_norm):
        norm.register_forward_hook(lambda _, into, __: seen.append(into[0]))
    with torch.no_grad():
        for batch in probed.batches:
            encoder(batch["net_input"]["src_tokens"], batch["net_input"]["src_lengths"])
    batches = [seen[:5], seen[5:]]
    hooked = [[(of_batch[block], of_batch[block + 1]) for of_batch in batches] for block in range(4)]
    assert own_shares(probed) == pytest.approx(by_hooks(probed, hooked), rel=0.04)


def joined_blocks(probed):
    """Return (x, f, out) of each encoder block, ``(words, d)``, of all minibatches together."""
    seen = []

    def spy(placement):
        connect = type(placement).connect

        def spied(x, block):
            given = []
            out = connect(
                placement, x, replace(block, sublayer=lambda into: given.append(block.sublayer(into)) or given[0])
            )
            seen.append((x, given[0], out))
            return out

        placement.connect = spied

    for layer in probed.model.encoder.layers:
        spy(layer.placement)
    blocks = []
    with torch.no_grad():
        for batch in probed.batches:
            kept = kept_positions(probed.model, batch["net_input"])["encoder"]
            seen.clear()
            probed.model.encoder(batch["net_input"]["src_tokens"], batch["net_input"]["src_lengths"])
            blocks.append([tuple(part[kept] for part in block) for block in seen])
    return [tuple(map(torch.cat, zip(*of_block, strict=True))) for of_block in zip(*blocks, strict=True)]


@pytest.mark.parametrize("placement", ["pre_ln", "peri_ln", "reordered_norm", "layer_norm_scaling", "sub_ln"])
def test_where_x_is_added_as_it_is_the_share_is_that_of_the_rest(probe, placement):
    probed = probe(placement)
    expected = [float(variance(out - x) / variance(out)) for x, _, out in joined_blocks(probe(placement))]
    assert own_shares(probed) == pytest.approx(expected, rel=0.06)


def test_deep_norms_share_is_that_beside_a_heavier_stream(probe):
    alpha = 0.81 * 16 ** (1 / 16)  # of two encoder layers and one decoder layer, from its paper's Figure 2
    expected = [float(variance(f) / variance(alpha * x + f)) for x, f, _ in joined_blocks(probe("deep_norm"))]
    assert own_shares(probe("deep_norm")) == pytest.approx(expected, rel=0.06)


@pytest.mark.parametrize(("placement", "least", "most"), [("rezero", 0, 0), ("peri_ln", 0.15, 0.6), ("keel", 0, 0.6)])
def test_a_placement_of_any_form_is_measured(probe, placement, least, most):
    shares = own_shares(probe(placement))
    assert len(shares) == 4
    assert least <= min(shares) <= max(shares) <= most


def test_a_placement_that_joins_blocks_otherwise_is_refused(probe):
    with pytest.raises(UserError, match="does not join the blocks of a layer one by one"):
        own_shares(probe("b2t"))


def test_the_model_is_left_as_it_was(probe):
    probed = probe("post_ln")
    own_shares(probed)
    assert all("connect" not in vars(layer.placement) for layer in probed.model.encoder.layers)


def test_shares_are_passed_on():
    assert shares_of_all([0.5, 0.5, 0.25]) == [[0.5], [0.25, 0.5], [0.1875, 0.375, 0.25]]
    even = shares_of_all([1 / (1 + number) for number in range(1, 6)])
    assert even[-1] == pytest.approx([1 / 6] * 5), "Pre-LN: an embedding and five branches of one size"
