"""Lemma 3: layer normalisation scales gradients by the inverse of its input's norm."""

import torch
from torch import nn

from lnexp.theory.probe import Context, Row, register_probe


@register_probe
def layer_norm_jacobian(context: Context, width: int, decades: list[float], samples: int) -> list[Row]:
    """``‖J_LN(x)‖₂`` over ``√d / ‖x‖`` for random directions x, at norms ``10^decade``; the mean over samples."""
    norm = nn.LayerNorm(width).double()
    found = []
    for decade in decades:
        x = torch.randn(samples, width, dtype=torch.float64)
        x = x / x.norm(dim=1, keepdim=True) * 10.0**decade
        largest = [float(torch.linalg.matrix_norm(jacobian(norm, one), ord=2)) for one in x]
        spectral = sum(largest) / len(largest)
        found.append(
            {
                "norm": 10.0**decade,
                "spectral_norm": spectral,
                "to_claimed": spectral / (width**0.5 / 10.0**decade),
            }
        )
    return found


def jacobian(norm: nn.LayerNorm, x: torch.Tensor) -> torch.Tensor:
    """``∂LN(x)/∂x``, ``(d, d)``, of one vector."""
    return torch.autograd.functional.jacobian(norm, x)
