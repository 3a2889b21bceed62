"""A learned multiplication, for placements that weigh their residual branches."""

import torch
from torch import Tensor, nn


class Scale(nn.Module):
    """Multiplies hidden states by learned numbers: one for each channel, or a single one (``size`` 1)."""

    def __init__(self, size: int, start: float):
        super().__init__()
        self.weight = nn.Parameter(torch.full((size,), start))

    def forward(self, x: Tensor) -> Tensor:
        """``(time, batch, channel)``, both ways."""
        return x * self.weight

    @torch.no_grad()
    def set_all(self, number: Tensor) -> None:
        """Every number becomes this one, ``(1,)``."""
        self.weight.copy_(number.expand_as(self.weight))

    def variance(self, x: Tensor, kept: Tensor) -> Tensor:
        """Of all numbers in ``(time, batch, channel)`` at the positions that are kept, ``(time, batch)``: ``(1,)``."""
        return variance(x[kept]).view(1)


def variance(x: Tensor) -> Tensor:
    """Of all numbers of ``x``, in single precision at least."""
    return x.to(torch.promote_types(x.dtype, torch.float32)).var(correction=0)
