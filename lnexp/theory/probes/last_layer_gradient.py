"""Theorem 1: the gradient of the last layer's second FFN matrix, in the theory's own setting."""

import torch

from lnexp.errors import UserError
from lnexp.theory.probe import Context, Row, register_probe
from lnexp.theory.setting import Stack, prediction_loss


@register_probe
def last_layer_gradient(
    context: Context,
    placement: str,
    by: str,
    sizes: list[int],
    other: int,
    positions: int,
    inputs: int,
    words: int,
    embedding: str,
) -> list[Row]:
    """``‖∂L/∂W^{2,L}‖_F`` at each size; the loss is a mean over positions and inputs.

    Args:
        context: the seed.
        placement: a registered one.
        by: what the sizes are, ``width`` (d) or ``layers`` (L).
        sizes: of that.
        other: the size of the other of the two.
        positions: of an input.
        inputs: Gaussian ones.
        words: among which targets are drawn.
        embedding: of words, Gaussian with ``unit_norm`` (entries of variance ``1/d``) or ``unit_entries``.
    """
    if by not in ("width", "layers"):
        raise UserError(f"by={by}: must be width or layers")
    if embedding not in ("unit_norm", "unit_entries"):
        raise UserError(f"embedding={embedding}: must be unit_norm or unit_entries")
    found = []
    for size in sizes:
        stack = Stack(placement, *((other, size) if by == "width" else (size, other)))
        found.append({"size": size, "grad_norm": _norm(stack, positions, inputs, words, embedding)})
    return found


def _norm(stack: Stack, positions: int, inputs: int, words: int, embedding: str) -> float:
    weight = stack.last_w2
    width = weight.size(0)
    x = torch.randn(positions, inputs, width, dtype=torch.float64)
    std = 1.0 if embedding == "unit_entries" else width**-0.5
    embeddings = std * torch.randn(words, width, dtype=torch.float64)
    target = torch.randint(words, (positions, inputs))
    (gradient,) = torch.autograd.grad(prediction_loss(stack(x), embeddings, target), weight)
    return float(gradient.norm())
