"""Lemma 2: measure the norms of hidden states at every layer of the theory's Transformer."""

import torch
from torch import Tensor

from lnexp.theory.hidden_states import hidden_norms
from lnexp.theory.measurement import Context, Row, register_measurement
from lnexp.theory.setting import Stack


@register_measurement
@torch.no_grad()
def hidden_norm(
    context: Context, placement: str, layers: int, width: int, positions: int, inputs: int, draws: int
) -> list[Row]:
    """Return the mean squared norm of hidden states at every layer, for Gaussian inputs, with its ratios to Lemma 2.

    A row has ``layer``, ``norm_a_channel`` (``E‖x‖²/d``, over positions, inputs and draws of the parameters), and its
    ``ratio`` to the statement named ``of``: ``post`` is ``E‖x^{post,5}_l‖² = 3d/2``; ``pre_lower`` and ``pre_upper``
    are the bounds ``(1 + l/2) d`` and ``(1 + 3l/2) d`` of ``E‖x^{pre}_{l+1}‖²``.

    Args:
        context: the seed.
        placement: a registered one.
        layers: of the Transformer.
        width: d.
        positions: of an input.
        inputs: number of inputs for each draw.
        draws: number of draws of the parameters.
    """
    drawn = [_means(Stack(placement, layers, width), positions, inputs, width) for _ in range(draws)]
    before_norm, output = torch.stack(drawn).mean(dim=0).tolist()
    found = []
    for layer, (before, after) in enumerate(zip(before_norm, output, strict=True), start=1):
        claimed = {"post": (before, 1.5), "pre_lower": (after, 1 + layer / 2), "pre_upper": (after, 1 + 3 * layer / 2)}
        found += [
            {"layer": layer, "of": of, "norm_a_channel": norm, "ratio": norm / value}
            for of, (norm, value) in claimed.items()
        ]
    return found


def _means(stack: Stack, positions: int, inputs: int, width: int) -> Tensor:
    """Return ``E‖x‖²/d`` of every layer, before its FFN's LayerNorm and at its output: ``(2, layers)``."""
    x = torch.randn(positions, inputs, width, dtype=torch.float64)
    stack.show_first_batch(x)  # here, so that what is recorded is one pass
    with hidden_norms(stack.layers, "before_norm") as before, hidden_norms(stack.layers, "output") as after:
        stack(x)
    return torch.stack([torch.stack(norms).mean(dim=(1, 2)) for norms in (before, after)]) / width
