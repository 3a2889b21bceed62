"""Lemma 3: measure the spectral norm of the Jacobian of LayerNorm for inputs of different norms."""

import torch
from torch import nn

from lnexp.errors import UserError
from lnexp.theory.measurement import Context, Row, register_measurement


@register_measurement
def layer_norm_jacobian(
    context: Context, width: int, decades: list[float], mean: float, of: str, samples: int
) -> list[Row]:
    """Return ``‖J_LN(x)‖₂`` at norms ``10^decade``, and its ratio to the claimed value; means over samples.

    Args:
        context: the seed.
        width: d.
        decades: base-10 logarithms of ``‖x‖``.
        mean: added to ``x ~ N(0, I)`` before x is scaled to its norm.
        of: the claimed value: ``√d / ‖x‖`` for ``norm``, ``√d / ‖x − x̄‖`` for ``deviation``.
        samples: number of x for each norm.
    """
    if of not in ("norm", "deviation"):
        raise UserError(f"of={of}: must be norm or deviation")
    layer_norm = nn.LayerNorm(width).double()
    found = []
    for decade in decades:
        x = torch.randn(samples, width, dtype=torch.float64) + mean
        x = x / x.norm(dim=1, keepdim=True) * 10.0**decade
        spectral = torch.stack([torch.linalg.matrix_norm(jacobian(layer_norm, one), ord=2) for one in x])
        length = (x if of == "norm" else x - x.mean(dim=1, keepdim=True)).norm(dim=1)
        ratio = spectral * length / width**0.5
        found.append({"norm": 10.0**decade, "spectral_norm": float(spectral.mean()), "to_claimed": float(ratio.mean())})
    return found


def jacobian(norm: nn.LayerNorm, x: torch.Tensor) -> torch.Tensor:
    """Return ``∂LN(x)/∂x``, ``(d, d)``, for one vector ``(d,)``."""
    return torch.autograd.functional.jacobian(norm, x)
