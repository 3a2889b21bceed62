"""A learned multiplication, for placements that weigh their residual branches."""

import torch
from torch import Tensor, nn

from .stacking import Parameters, stacked_form


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


@stacked_form(Scale)
class StackedScale(nn.Module):
    """``S`` learned multiplications: ``weight`` is ``(S, size)``."""

    def __init__(self, single: nn.Module, parameters: Parameters):
        super().__init__()
        self.weight = parameters[single.get_parameter("weight")]

    def forward(self, x: Tensor) -> Tensor:
        """``(time, S·B, channel)``, both ways."""
        rows = self.normal(x.transpose(0, 1))
        weight = self.weight.to(x.dtype).unsqueeze(1)
        return (rows.reshape(len(weight), -1, x.size(-1)) * weight).view(rows.shape).transpose(0, 1)

    def normal(self, rows: Tensor) -> Tensor:
        """What is multiplied: ``(S·B, time, channel)``, both ways."""
        return rows

    @torch.no_grad()
    def set_all(self, numbers: Tensor) -> None:
        """Every number of a member becomes this one, ``(S,)``."""
        self.weight.copy_(numbers.unsqueeze(1).expand_as(self.weight))

    def variance(self, x: Tensor, kept: Tensor) -> Tensor:
        """Of all numbers of each member, ``(time, S·B, channel)``, where ``(time, B)`` are kept: ``(S,)``."""
        members = x.chunk(self.weight.size(0), dim=1)
        return torch.stack([variance(member[kept]) for member in members])
