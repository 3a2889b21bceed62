"""Shares of sublayers in the residual stream, against what hooks on the model's own modules see."""

import math
from dataclasses import replace

import pytest
import torch

from lnexp.errors import UserError
from lnexp.plugin.placements.post_ln import PostLN
from lnexp.theory.dependency import own_shares, shares
from lnexp.theory.models import kept_positions, untrained_placement

pytestmark = pytest.mark.slow

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


def test_b2ts_ffn_is_measured_beside_the_layers_input_too(probe):
    own, blocks = own_shares(probe("b2t")), joined_blocks(probe("b2t"))
    expected = [float(variance(f) / variance(x + f)) for x, f, _ in blocks]
    assert own == pytest.approx(expected, rel=0.06)
    layers_input, ffn = blocks[0][0], blocks[1]
    assert torch.equal(ffn[0], layers_input + blocks[0][2]), "what the FFN is added to has the layer's input in it"


@pytest.mark.parametrize("measured", [own_shares, shares])
@pytest.mark.parametrize("by_connect", [0, 1])
def test_a_placement_that_joins_blocks_otherwise_is_refused(probe, monkeypatch, measured, by_connect):
    def forward(self, x, blocks):
        for block in blocks:
            x = self.connect(x, block) if block.number < by_connect else block.norm(x + block.sublayer(x))
        return x

    monkeypatch.setattr(PostLN, "forward", forward)
    with pytest.raises(UserError, match="does not join each block of a layer by its connect"):
        measured(probe("post_ln"))


@pytest.mark.parametrize("measured", [own_shares, shares])
def test_the_model_is_left_as_it_was(probe, measured):
    probed = probe("post_ln")
    measured(probed)
    assert not any({"connect", "forward"} & vars(layer.placement).keys() for layer in probed.model.encoder.layers)


@pytest.mark.parametrize("placement", ["post_ln", "pre_ln", "peri_ln", "deep_norm", "keel", "residual"])
def test_what_is_only_passed_on_is_lost_to_each_branch_that_joins(probe, placement):
    """Where branches do not correlate, block k leaves (1 − its own share) of what comes to it (Liu et al. 2020)."""
    own, found = own_shares(probe(placement)), shares(probe(placement))
    assert [len(of_block) for of_block in found] == [1, 2, 3, 4]
    assert [of_block[-1] for of_block in found] == pytest.approx(own, rel=0.1)
    for number, of_block in enumerate(found):
        for earlier, share in enumerate(of_block[:-1]):
            left = math.prod(1 - mine for mine in own[earlier + 1 : number + 1])
            assert share == pytest.approx(own[earlier] * left, rel=0.25), "branches correlate a little"


def test_the_share_of_a_branch_is_that_of_its_part_in_the_stream(probe):
    """Pre-LN's stream is the embedding plus all branches so far."""
    blocks = joined_blocks(probe("pre_ln"))
    for (_, _, out), of_block in zip(blocks, shares(probe("pre_ln")), strict=True):
        parts = [float(variance(f) / variance(out)) for _, f, _ in blocks[: len(of_block)]]
        assert of_block == pytest.approx(parts, rel=0.06)


def test_b2ts_attention_comes_to_the_layers_output_beside_the_layers_input(probe):
    (_, _, attended), (stream, branch, _), *_ = joined_blocks(probe("b2t"))
    (of_attention,), (through_ffn, _), *_ = shares(probe("b2t"))
    left = float(variance(attended) / variance(stream + branch))
    assert through_ffn == pytest.approx(of_attention * left, rel=0.06)
