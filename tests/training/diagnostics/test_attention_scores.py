"""Logits and entropies are those of a count by hand over what attention sees."""

import math

import pytest
import torch

from lnexp.training.diagnostics.attention_scores import AttentionScores

LENGTHS = {"encoder": (6, 3), "decoder": (5, 3)}
ATTENTIONS = ["encoder.layers.0.self_attn", "decoder.layers.1.self_attn", "decoder.layers.1.encoder_attn"]


def by_hand(module, query, key, seen) -> float:
    """The largest logit of one sentence, query by query, key by key and head by head."""
    size = module.head_dim
    q, k = module.q_proj(query), module.k_proj(key)
    return max(
        float(q[i, head * size : (head + 1) * size] @ k[j, head * size : (head + 1) * size]) / size**0.5
        for head in range(module.num_heads)
        for i, j in seen
    )


def positions(side: str, sentence: int) -> range:
    """Which positions are words: sources are padded on the left, targets on the right."""
    length = LENGTHS[side][sentence]
    return range(6 - length, 6) if side == "encoder" else range(length)


@pytest.mark.parametrize("name", ATTENTIONS)
def test_what_is_hidden_does_not_count(one_update, name):
    module, side = one_update.model.get_submodule(name), name.partition(".")[0]
    of_keys = "encoder" if name.endswith("encoder_attn") else side
    is_causal = name.startswith("decoder") and name.endswith("self_attn")
    torch.manual_seed(5)
    query, key = (large_at_padding(torch.randn(len(positions(of, 0)), 2, 32), of) for of in (side, of_keys))
    module.register_forward_pre_hook(lambda _, arguments: (query, key, *arguments[2:]))
    found = one_update.watched_by(AttentionScores, lr=0)[f"attention_logit.{name}"]
    every = [(i, j) for i in range(len(query)) for j in range(len(key))]
    seen = [
        [
            (i, j)
            for i, j in every
            if i in positions(side, one) and j in positions(of_keys, one) and (j <= i or not is_causal)
        ]
        for one in (0, 1)
    ]
    with torch.no_grad():
        expected, greater = (
            max(by_hand(module, query[:, one], key[:, one], pairs[one]) for one in (0, 1))
            for pairs in (seen, [every, every])
        )
    assert float(found) == pytest.approx(expected, rel=1e-5)
    assert greater > 2 * expected, "so that padding would be noticed"
    if is_causal:
        later = [
            [(i, j) for i, j in every if i in positions(side, one) and j in positions(side, one)] for one in (0, 1)
        ]
        with torch.no_grad():
            assert max(by_hand(module, query[:, one], key[:, one], later[one]) for one in (0, 1)) > expected


def large_at_padding(x: torch.Tensor, side: str) -> torch.Tensor:
    """Hidden states, ``(time, batch, channel)``, with ten times larger ones where the second sentence has no word."""
    padding = [place for place in range(len(x)) if place not in positions(side, 1)]
    x[padding, 1] *= 10
    return x


def test_it_is_detached_after_its_update(one_update):
    one_update.watched_by(AttentionScores)
    modules = one_update.model.modules()
    assert not any(module._forward_pre_hooks for module in (*modules, one_update.criterion))


@pytest.mark.parametrize("name", ["encoder.layers.0.self_attn", "decoder.layers.0.encoder_attn"])
def test_the_entropy_of_uniform_attention_is_the_log_of_its_keys(one_update, name):
    module = one_update.model.get_submodule(name)
    for parameter in module.q_proj.parameters():
        torch.nn.init.zeros_(parameter)
    queries = LENGTHS[name.partition(".")[0]]
    expected = sum(n * math.log(k) for n, k in zip(queries, LENGTHS["encoder"], strict=True)) / sum(queries)
    found = one_update.watched_by(AttentionScores, lr=0)[f"attention_entropy.{name}"]
    assert float(found) == pytest.approx(expected, rel=1e-6)


def test_a_decoder_sees_no_future(one_update):
    name = "decoder.layers.0.self_attn"
    for parameter in one_update.model.get_submodule(name).q_proj.parameters():
        torch.nn.init.zeros_(parameter)
    logs = [math.log(1 + place) for length in LENGTHS["decoder"] for place in range(length)]
    found = one_update.watched_by(AttentionScores, lr=0)[f"attention_entropy.{name}"]
    assert float(found) == pytest.approx(sum(logs) / len(logs), rel=1e-6)
