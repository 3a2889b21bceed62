"""The theory's Transformer, against its formulas written out."""

import pytest
import torch
from torch import Tensor
from torch.nn import functional

from lnexp.errors import UserError
from lnexp.theory.setting import Stack, placement_named, prediction_loss

WIDTH, POSITIONS = 6, 5


def norm(x: Tensor) -> Tensor:
    return functional.layer_norm(x, (WIDTH,), eps=1e-5)


def attention(layer, x: Tensor) -> Tensor:
    """With zero scores: the mean over positions of ``x W^V``."""
    return (x @ layer.self_attn.v_proj.weight.t()).mean(dim=0, keepdim=True).expand_as(x)


def ffn(layer, x: Tensor) -> Tensor:
    return (x @ layer.fc1.weight.t()).relu() @ layer.fc2.weight.t()


def by_hand(stack: Stack, placement: str, x: Tensor) -> Tensor:
    for layer in stack.layers:
        if placement == "post_ln":
            x = norm(x + attention(layer, x))
            x = norm(x + ffn(layer, x))
        else:
            x = x + attention(layer, norm(x))
            x = x + ffn(layer, norm(x))
    return x if placement == "post_ln" else norm(x)


@pytest.fixture
def draw():
    torch.manual_seed(0)
    return lambda *shape: torch.randn(*shape, dtype=torch.float64)


def of_decoder_by_hand(stack: Stack, placement: str, x: Tensor) -> Tensor:
    for layer in stack.layers:
        of_source = stack.source.mean(dim=0) @ layer.encoder_attn.v_proj.weight.t()
        if placement == "post_ln":
            x = norm(x + attention(layer, x))
            x = norm(x + of_source)
            x = norm(x + ffn(layer, x))
        else:
            x = x + attention(layer, norm(x)) + of_source
            x = x + ffn(layer, norm(x))
    return x if placement == "post_ln" else norm(x)


@pytest.mark.parametrize("placement", ["post_ln", "pre_ln"])
def test_a_decoder_s_layers_attend_to_the_mean_of_the_source(placement, draw):
    stack = Stack(placement, 2, WIDTH, sources=3)
    x = draw(POSITIONS, 2, WIDTH)
    torch.testing.assert_close(stack(x), of_decoder_by_hand(stack, placement, x), rtol=1e-12, atol=1e-12)
    values = [layer.encoder_attn.v_proj.weight for layer in stack.layers]
    found = [float((value @ stack.source.mean(dim=(0, 1))).square().mean()) for value in values]
    assert stack.source_variances() == pytest.approx(found)


@pytest.mark.parametrize("placement", ["post_ln", "pre_ln"])
def test_two_layers_are_the_papers_formulas(placement, draw):
    stack = Stack(placement, 2, WIDTH)
    x = draw(POSITIONS, 1, WIDTH)
    torch.testing.assert_close(stack(x), by_hand(stack, placement, x), rtol=1e-12, atol=1e-12)


def test_the_last_gradient_of_two_post_ln_layers_is_that_by_hand(draw):
    """``∂L/∂W²`` is the mean over positions of ``J_LN(x⁵)ᵀ ∂L/∂x ⊗ ReLU(x³ W¹)``."""
    stack = Stack("post_ln", 2, WIDTH)
    x, embedding = draw(POSITIONS, 1, WIDTH), draw(7, WIDTH)
    target = torch.randint(7, (POSITIONS, 1))
    (gradient,) = torch.autograd.grad(prediction_loss(stack(x), embedding, target), stack.last_w2)
    with torch.no_grad():
        first, last = stack.layers
        y = norm(x + attention(first, x))
        y = norm(y + ffn(first, y))
        y = norm(y + attention(last, y))
        hidden = (y @ last.fc1.weight.t()).relu()
        x5 = y + hidden @ last.fc2.weight.t()
        out = norm(x5)
        by_logits = (out @ embedding.t()).softmax(dim=-1) - functional.one_hot(target, 7)
        by_output = by_logits @ embedding
        std = (x5.var(dim=-1, unbiased=False, keepdim=True) + 1e-5).sqrt()
        centred = by_output - by_output.mean(dim=-1, keepdim=True) - out * (by_output * out).mean(dim=-1, keepdim=True)
        expected = torch.einsum("nbi,nbj->ij", centred / std, hidden) / POSITIONS
    torch.testing.assert_close(gradient, expected, rtol=1e-10, atol=1e-12)


def test_one_entry_of_the_gradient_is_the_difference_quotient(draw):
    stack = Stack("pre_ln", 3, WIDTH)
    x, embedding = draw(POSITIONS, 2, WIDTH), draw(7, WIDTH)
    target = torch.randint(7, (POSITIONS, 2))
    (gradient,) = torch.autograd.grad(prediction_loss(stack(x), embedding, target), stack.last_w2)
    step, losses = 1e-6, []
    with torch.no_grad():
        for sign in (1, -1):
            stack.last_w2[2, 3] += sign * step
            losses.append(float(prediction_loss(stack(x), embedding, target)))
            stack.last_w2[2, 3] -= sign * step
    assert float(gradient[2, 3]) == pytest.approx((losses[0] - losses[1]) / (2 * step), rel=1e-6)


def test_a_placement_is_known_by_its_name_alone():
    assert placement_named("pre_ln").name == "pre_ln"
    assert placement_named("post_ln").name == "post_ln"
    with pytest.raises(UserError, match="placement=prex_ln: there is none; did you mean pre_ln"):
        placement_named("prex_ln")


@pytest.mark.parametrize(("layers", "width"), [(0, 4), (2, 0)])
def test_no_layers_or_channels_are_refused(layers, width):
    with pytest.raises(UserError, match="both must be at least 1"):
        Stack("post_ln", layers, width)


def test_it_is_a_stack_alone():
    """Of 6 layers: (2N)^(1/4) and (8N)^(-1/4) of DeepNet's Figure 2."""
    (placement, *_) = [layer.placement for layer in Stack("deep_norm", 6, 8).layers]
    assert (placement.alpha, placement.beta) == pytest.approx((1.861210, 0.379918), abs=1e-6)
