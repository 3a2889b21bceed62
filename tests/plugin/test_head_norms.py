"""``qk_norm`` normalises queries and keys in each head, with every placement, alone, in arrays and word by word."""

import pytest
import torch
from small_models import SEEDS, array_of, assert_array_is_its_members, model_of, scores_both_ways
from torch.nn import functional

from lnexp.plugin.attention import SHORT
from lnexp.plugin.model import PLACEMENTS
from lnexp.plugin.norm import NORMS

#: Of the attention of small models.
HEADS, CHANNELS = 4, 8
#: What is special in their attention or its blocks: nothing, a norm before the output projection, norms of its own.
SPECIAL = pytest.mark.parametrize("placement", ["post_ln", "sub_ln", "hybrid_norm"])


def attention_of(task, norm="layer_norm"):
    attention = model_of("post_ln", task, qk_norm=True, norm=norm).encoder.layers[0].self_attn
    with torch.no_grad():
        for parameter in attention.parameters():
            parameter.add_(0.1 * torch.randn_like(parameter))
    return attention


def by_head(x):
    return x.unflatten(2, (HEADS, CHANNELS)).permute(1, 2, 0, 3)


@pytest.mark.parametrize("norm", NORMS)
@pytest.mark.parametrize(("time", "need_weights"), [(5, False), (5, True), (SHORT + 1, False)])
@torch.no_grad()
def test_queries_and_keys_are_normalised_in_each_head(time, need_weights, norm, task):
    attention, x = attention_of(task, norm), torch.randn(time, 2, HEADS * CHANNELS)
    projected = {
        name: functional.linear(x, part.weight, part.bias)
        for name, part in (("q", attention.q_proj), ("k", attention.k_proj), ("v", attention.v_proj))
    }
    q, k, v = (by_head(projected[name]) for name in "qkv")
    heads = functional.scaled_dot_product_attention(attention.q_proj.norm(q), attention.k_proj.norm(k), v)
    expected = attention.out_proj(heads.permute(2, 0, 1, 3).flatten(2))
    found, _ = attention(x, x, x, need_weights=need_weights)
    torch.testing.assert_close(found, expected, rtol=1e-4, atol=1e-5)


@torch.no_grad()
def test_logits_are_bounded_whatever_the_weights(task):
    """Dehghani et al. 2023: attention's logits cannot grow. Normalised, d channels have length √d at first."""
    attention = model_of("post_ln", task, qk_norm=True).encoder.layers[0].self_attn
    x, found = torch.randn(5, 2, HEADS * CHANNELS), []
    for _ in range(2):
        q, k = by_head(attention.q_proj(x)), by_head(attention.k_proj(x))
        assert (q @ k.transpose(2, 3) / CHANNELS**0.5).abs().max() <= CHANNELS**0.5
        found.append(attention(x, x, x, need_weights=False)[0])
        for projection in (attention.q_proj, attention.k_proj):
            projection.weight.mul_(100)
    torch.testing.assert_close(*found, rtol=1e-3, atol=1e-4)


@pytest.mark.parametrize("placement", PLACEMENTS)
def test_any_placement_gets_these_norms_and_nothing_else(placement, task, batch):
    with_norms, without = (model_of(placement, task, layers=(1, 1), qk_norm=qk_norm) for qk_norm in (True, False))
    before, now = (dict(model.named_parameters()) for model in (without, with_norms))
    assert all(torch.equal(now[name], parameter) for name, parameter in before.items()), "drawn as without"
    attentions = [f"{side}.layers.0.{part}" for side, part in (
        ("encoder", "self_attn"), ("decoder", "self_attn"), ("decoder", "encoder_attn")
    )]  # fmt: skip
    added = {f"{one}.{part}_proj.norm.{name}" for one in attentions for part in "qk" for name in ("weight", "bias")}
    assert added <= now.keys()
    assert now.keys() - before.keys() == (set() if placement == "hybrid_norm" else added)
    assert torch.isfinite(with_norms.train()(*batch)[0]).all()


@SPECIAL
def test_incremental_decoding_equals_full_decoding(placement, task, batch):
    model = model_of(placement, task, qk_norm=True)
    torch.testing.assert_close(*scores_both_ways(model, task, batch), rtol=1e-4, atol=1e-4)


@SPECIAL
def test_an_array_is_its_members(placement, task, net_input):
    members = [model_of(placement, task, seed, qk_norm=True, norm="rms_norm").double().train() for seed in SEEDS]
    array = array_of(placement, task, qk_norm=True, norm="rms_norm").double().train()
    assert_array_is_its_members(array, members, net_input, task.target_dictionary.pad())
    norms = [name for name, _ in array.named_parameters() if "_proj.norm." in name]
    assert all(member.get_parameter(name).grad is not None for member in members for name in norms)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_half_precision_is_finite_and_trains_every_parameter(dtype, task, batch):
    model = model_of("post_ln", task, qk_norm=True).to(dtype).train()
    model(*batch)[0].float().logsumexp(-1).mean().backward()
    assert all(torch.isfinite(parameter.grad).all() for parameter in model.parameters())


def test_a_placement_without_norms_has_their_kind(task):
    attention = model_of("rezero", task, qk_norm=True, norm="rms_norm").encoder.layers[0].self_attn
    assert isinstance(attention.q_proj.norm, torch.nn.RMSNorm)
