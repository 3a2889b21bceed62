"""Lemma 3: layer normalisation scales gradients by the inverse of its input's norm."""

import torch
from torch import nn

from lnexp.errors import UserError
from lnexp.theory.probe import Context, Row, register_probe


@register_probe
def layer_norm_jacobian(
    context: Context, width: int, decades: list[float], mean: float, of: str, samples: int
) -> list[Row]:
    """``‖J_LN(x)‖₂`` over what is claimed of it, at norms ``10^decade``; the mean over samples.

    Args:
        context: the seed.
        width: d.
        decades: of ``‖x‖``.
        mean: x is ``N(0, I)`` plus this, before it is scaled to its norm.
        of: ``norm`` for a claimed ``√d / ‖x‖``, ``deviation`` for ``√d / ‖x − x̄‖``.
        samples: how many x at each norm.
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
    """``∂LN(x)/∂x``, ``(d, d)``, of one vector."""
    return torch.autograd.functional.jacobian(norm, x)
