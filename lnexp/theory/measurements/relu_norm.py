"""Lemma 1: measure the squared norm of a Gaussian vector behind ReLU."""

import torch

from lnexp.errors import UserError
from lnexp.theory.hidden_states import squared_norm
from lnexp.theory.measurement import Context, Row, register_measurement


@register_measurement
def relu_norm(context: Context, sigmas: list[float], width: int, samples: int) -> list[Row]:
    """Return ``E‖ReLU(X)‖²`` for ``X ~ N(0, σ² I_d)``, and its ratio to the lemma's ``σ² d / 2``, for each σ.

    Args:
        context: the seed.
        sigmas: the values of σ.
        width: d.
        samples: number of X for each σ.
    """
    if not all(sigma > 0 for sigma in sigmas):
        raise UserError(f"sigmas={sigmas}: must be above 0")
    found = []
    for sigma in sigmas:
        x = sigma * torch.randn(samples, width, dtype=torch.float64)
        mean = float(squared_norm(x.relu()).mean())
        found.append({"sigma": sigma, "squared_norm": mean, "to_claimed": mean / (sigma**2 * width / 2)})
    return found
