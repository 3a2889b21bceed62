"""A learned multiplication, for placements that weight their residual branches."""

import torch
from torch import Tensor, nn

from .stacking import Parameters, stacked_form


class Scale(nn.Module):
    """Multiply hidden states by learned numbers: one for each channel, or a single one (``size`` 1)."""

    def __init__(self, size: int, start: float):
        super().__init__()
        self.weight = nn.Parameter(torch.full((size,), start))

    def forward(self, x: Tensor) -> Tensor:
        """Return the scaled hidden states; takes and returns ``(time, batch, channel)``."""
        return x * self.weight

    @torch.no_grad()
    def set_all(self, number: Tensor) -> None:
        """Set every learned number to the one given, ``(1,)``."""
        self.weight.copy_(number.expand_as(self.weight))

    def variance(self, x: Tensor, kept: Tensor) -> Tensor:
        """Return the variance, ``(1,)``, of all numbers of hidden states at the positions that are kept.

        Args:
            x: ``(time, batch, channel)``.
            kept: ``(time, batch)``, true where a position counts.
        """
        return variance(x[kept]).view(1)


def variance(x: Tensor) -> Tensor:
    """Return the variance of all numbers of ``x``, computed at least in single precision."""
    return x.to(torch.promote_types(x.dtype, torch.float32)).var(correction=0)


@stacked_form(Scale)
class StackedScale(nn.Module):
    """``S`` learned multiplications: ``weight`` is ``(S, size)``."""

    def __init__(self, single: nn.Module, parameters: Parameters):
        super().__init__()
        self.weight = parameters[single.get_parameter("weight")]

    def forward(self, x: Tensor) -> Tensor:
        """Return the scaled hidden states; takes and returns ``(time, S·B, …, channel)``."""
        rows = self.normal(x.transpose(0, 1))
        weight = self.weight.to(x.dtype).unsqueeze(1)
        return (rows.reshape(len(weight), -1, x.size(-1)) * weight).view(rows.shape).transpose(0, 1)

    def normal(self, rows: Tensor) -> Tensor:
        """Return what is multiplied by the learned numbers; takes and returns ``(S·B, time, …, channel)``."""
        return rows

    @torch.no_grad()
    def set_all(self, numbers: Tensor) -> None:
        """Set every learned number of each member to the one given for it, ``(S,)``."""
        self.weight.copy_(numbers.unsqueeze(1).expand_as(self.weight))

    def variance(self, x: Tensor, kept: Tensor) -> Tensor:
        """Return the variance, ``(S,)``, of all numbers of each member's hidden states at the positions that are kept.

        Args:
            x: ``(time, S·B, channel)``.
            kept: ``(time, B)``, true where a position counts.
        """
        members = x.chunk(self.weight.size(0), dim=1)
        return torch.stack([variance(member[kept]) for member in members])
