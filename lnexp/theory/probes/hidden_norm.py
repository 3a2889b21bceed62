"""Lemma 2: how long hidden states are."""

import torch
from torch import Tensor

from lnexp.theory.hidden_states import hidden_norms
from lnexp.theory.probe import Context, Row, register_probe
from lnexp.theory.setting import Stack


@register_probe
@torch.no_grad()
def hidden_norm(
    context: Context, placement: str, layers: int, width: int, positions: int, inputs: int, draws: int
) -> list[Row]:
    """Mean squared norms of hidden states at every layer of the theory's Transformer, for Gaussian inputs.

    Each ``ratio`` is over one thing that the lemma says, named ``of``: for ``post`` that ``E‖x^{post,5}_l‖² = 3d/2``;
    for ``pre_lower`` and ``pre_upper`` that ``E‖x^{pre}_{l+1}‖²`` is from ``(1 + l/2) d`` to ``(1 + 3l/2) d``. The mean
    is over positions, inputs and draws of the parameters.
    """
    drawn = [_means(Stack(placement, layers, width), positions, inputs, width) for _ in range(draws)]
    before_norm, output = torch.stack(drawn).mean(dim=0).tolist()
    found = []
    for layer, (before, after) in enumerate(zip(before_norm, output, strict=True), start=1):
        claimed = {"post": (before, 1.5), "pre_lower": (after, 1 + layer / 2), "pre_upper": (after, 1 + 3 * layer / 2)}
        found += [
            {"layer": layer, "of": of, "norm_a_channel": norm, "ratio": norm / said}
            for of, (norm, said) in claimed.items()
        ]
    return found


def _means(stack: Stack, positions: int, inputs: int, width: int) -> Tensor:
    """Of what each layer's last LayerNorm takes in, and of what each layer gives out: ``(2, layers)``, a channel."""
    with hidden_norms(stack.layers, "before_norm") as before, hidden_norms(stack.layers, "output") as after:
        stack(torch.randn(positions, inputs, width, dtype=torch.float64))
    return torch.stack([torch.stack(norms).mean(dim=(1, 2)) for norms in (before, after)]) / width
