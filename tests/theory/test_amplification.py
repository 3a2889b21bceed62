"""The gain of an encoder, against a hand-written one, and what it leaves behind."""

import pytest
import torch
from torch.nn import functional

from lnexp.theory.amplification import against_the_gradient, encoder_matrices, gain, random_signs
from lnexp.theory.models import loss_of, untrained_placement

NARROW = [f"{side}_{what}" for side in ("encoder", "decoder") for what in ("embed_dim=16", "ffn_embed_dim=24")]
SMALL = [*NARROW, "encoder_layers=2", "decoder_layers=1", "encoder_attention_heads=1"]


def norm(into):
    return functional.layer_norm(into, into.shape[-1:])


#: The names of Admin's learned weights of the residual stream.
OMEGA = "encoder.layers.{layer}.placement.omega.{block}.weight"
#: How each joins a sublayer, from its paper; DeepNorm's α is that of two encoder layers and one decoder layer.
JOINED = {
    "post_ln": lambda x, sublayer, _: norm(x + sublayer(x)),
    "pre_ln": lambda x, sublayer, _: x + sublayer(norm(x)),
    "admin": lambda x, sublayer, omega: norm(omega * x + sublayer(x)),
    "deep_norm": lambda x, sublayer, _: norm(0.81 * 16 ** (1 / 16) * x + sublayer(x)),
    "peri_ln": lambda x, sublayer, _: x + norm(sublayer(norm(x))),
    "reordered_norm": lambda x, sublayer, _: x + norm(sublayer(x)),
}


def by_hand(placement, weights, x, padding):
    """An encoder without its classes: ``x`` is ``(sentence, position, d)``, padding lacks the last."""
    join = JOINED[placement]
    for layer in range(2):

        def linear(name, into, layer=layer):
            matrix, bias = (weights[f"encoder.layers.{layer}.{name}.{what}"] for what in ("weight", "bias"))
            return into @ matrix.t() + bias

        def attention(x, linear=linear):
            scores = linear("self_attn.q_proj", x) @ linear("self_attn.k_proj", x).transpose(1, 2) / x.size(-1) ** 0.5
            scores = scores.masked_fill(padding[:, None, :], -torch.inf)
            return linear("self_attn.out_proj", scores.softmax(-1) @ linear("self_attn.v_proj", x))

        def feed_forward(x, linear=linear):
            return linear("fc2", linear("fc1", x).relu())

        first, second = (weights.get(OMEGA.format(layer=layer, block=block)) for block in (0, 1))
        x = join(join(x, attention, first), feed_forward, second)
    return x if placement in ("post_ln", "admin", "deep_norm") else norm(x)


@pytest.mark.parametrize("placement", JOINED)
def test_it_is_that_of_an_encoder_written_by_hand(context, placement):
    probed = untrained_placement(context, placement, SMALL, 2, 200)
    changes, size = random_signs(probed.model), 1e-3
    weights = {name: weight.detach().double() for name, weight in probed.model.named_parameters()}
    changed = weights | {name: weights[name] + size * change for name, change in changes.items()}
    squares = []
    for batch in probed.batches:
        tokens = batch["net_input"]["src_tokens"]
        padding = tokens.eq(probed.criterion.padding_idx)
        with torch.no_grad():
            x = probed.model.encoder.forward_embedding(tokens)[0].double() * ~padding[..., None]
        difference = by_hand(placement, changed, x, padding) - by_hand(placement, weights, x, padding)
        squares.append(difference[~padding].square().flatten())
    assert gain(probed, changes, size) == pytest.approx(float(torch.cat(squares).mean()) / size**2, rel=2e-3)


def test_matrices_of_the_encoders_layers_change_alone_and_are_put_back(context):
    probed = untrained_placement(context, "admin", SMALL, 1, 80)
    before = {name: weight.clone() for name, weight in probed.model.state_dict().items()}
    changes = random_signs(probed.model)
    assert len(changes) == 2 * 6, "q, k, v, out, W¹ and W² of two layers"
    assert all(set(change.unique().tolist()) == {-1, 1} for change in changes.values())
    assert gain(probed, changes, 1e-3) > 0
    assert all(torch.equal(weight, before[name]) for name, weight in probed.model.state_dict().items())
    assert gain(probed, {name: change * 0 for name, change in changes.items()}, 1e-3) == 0


def test_signs_are_those_of_the_mean_loss_of_all_minibatches(context):
    probed = untrained_placement(context, "post_ln", SMALL, 2, 100)
    changes = against_the_gradient(probed)
    loss = sum(loss_of(probed, batch) for batch in probed.batches)
    loss.backward()
    for name, weight in encoder_matrices(probed.model).items():
        assert torch.equal(changes[name], -weight.grad.sign()), name


def test_a_step_against_the_gradient_lowers_the_loss(context):
    probed = untrained_placement(context, "pre_ln", SMALL, 1, 200)
    changes = against_the_gradient(probed)
    with torch.no_grad():
        before = loss_of(probed, probed.batches[0])
        for name, weight in encoder_matrices(probed.model).items():
            weight.add_(changes[name], alpha=1e-4)
        assert loss_of(probed, probed.batches[0]) < before


def test_a_change_against_the_gradient_changes_more_than_a_random_one(context):
    probed = untrained_placement(context, "pre_ln", SMALL, 1, 200)
    assert gain(probed, against_the_gradient(probed), 1e-4) > 5 * gain(probed, random_signs(probed.model), 1e-4)
