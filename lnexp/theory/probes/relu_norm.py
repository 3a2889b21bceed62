"""Lemma 1: what ReLU leaves of a Gaussian vector's norm."""

import torch

from lnexp.theory.hidden_states import squared_norm
from lnexp.theory.probe import Context, Row, register_probe


@register_probe
def relu_norm(context: Context, sigmas: list[float], width: int, samples: int) -> list[Row]:
    """``E‖ReLU(X)‖²`` for ``X ~ N(0, σ² I_d)``, over the lemma's ``σ² d / 2``, for each σ."""
    found = []
    for sigma in sigmas:
        x = sigma * torch.randn(samples, width, dtype=torch.float64)
        mean = float(squared_norm(x.relu()).mean())
        found.append({"sigma": sigma, "squared_norm": mean, "to_claimed": mean / (sigma**2 * width / 2)})
    return found
