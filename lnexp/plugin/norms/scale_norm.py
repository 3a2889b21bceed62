"""ScaleNorm: all vectors get one learned length."""

import torch
from torch import Tensor, nn
from torch.nn import functional

from ..norm import register_norm
from ..scale import StackedScale
from ..stacking import Parameters, stacked_form


@register_norm("scale_norm")
class ScaleNorm(nn.Module):
    """``g x / ‖x‖`` with one learned g, √d at first (Nguyen & Salazar 2019, "Transformers without Tears", eq. 5)."""

    def __init__(self, width: int, eps: float = 1e-5):
        super().__init__()
        self.eps = eps
        self.weight = nn.Parameter(torch.tensor([width**0.5]))

    def forward(self, x: Tensor) -> Tensor:
        """Return the normalised vectors; takes and returns ``(…, channel)``."""
        return self.weight * unit_length(x, self.eps)


def unit_length(x: Tensor, eps: float) -> Tensor:
    """Return ``x / ‖x‖`` over the channels, with ‖x‖ at least ``eps``."""
    return functional.normalize(x, dim=-1, eps=eps)


@stacked_form(ScaleNorm)
class StackedScaleNorm(StackedScale):
    """``S`` normalisations to a learned length: ``weight`` is ``(S, 1)``."""

    def __init__(self, single: ScaleNorm, parameters: Parameters):
        super().__init__(single, parameters)
        self.eps = single.eps

    def normal(self, rows: Tensor) -> Tensor:
        """Return vectors of length 1; takes and returns ``(S·B, time, channel)``."""
        return unit_length(rows, self.eps)
