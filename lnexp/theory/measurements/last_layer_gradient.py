"""Theorem 1: measure the gradient of the last layer's second FFN matrix in the theory's Transformer."""

import torch

from lnexp.errors import UserError
from lnexp.theory.measurement import Context, Row, register_measurement
from lnexp.theory.setting import Stack, loss_of_random_targets


@register_measurement
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
    """Return ``‖∂L/∂W^{2,L}‖_F`` for each size; the loss is the mean over positions and inputs.

    Args:
        context: the seed.
        placement: a registered one.
        by: the meaning of ``sizes``: ``width`` (d) or ``layers`` (L).
        sizes: the widths or the depths.
        other: the depth where ``sizes`` are widths, and the width where they are depths.
        positions: of an input.
        inputs: number of Gaussian inputs.
        words: size of the vocabulary that targets are drawn from.
        embedding: of words; Gaussian with entries of variance ``1/d`` (``unit_norm``) or 1 (``unit_entries``).
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
    std = 1.0 if embedding == "unit_entries" else weight.size(0) ** -0.5
    (gradient,) = torch.autograd.grad(loss_of_random_targets(stack, positions, inputs, words, std), weight)
    return float(gradient.norm())
