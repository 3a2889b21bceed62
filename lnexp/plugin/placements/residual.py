"""ResiDual: a residual stream of either kind."""

from collections.abc import Sequence

import torch
from torch import Tensor, nn

from ..model import register_placement
from ..placement import Block, Placement


@register_placement("residual")
class ResiDual(Placement):
    """Post-LN beside a second stream that is never normalised (Xie et al. 2023, "ResiDual: Transformer with Dual
    Residual Connections", section 3.1).

    ``y = F(x)``, ``x' = LN(x + y)``, ``dual' = dual + y``; both start at the embedding, and a stack gives out
    ``x + LN(dual)``. Between layers the two lie behind each other, as ``(time, batch, 2 channel)``.
    """

    final_norm = True

    def forward(self, x: Tensor, blocks: Sequence[Block]) -> Tensor:
        first = x.size(-1) == self.where.width
        return super().forward(torch.cat([x, x], dim=-1) if first else x, blocks)

    def connect(self, x: Tensor, block: Block) -> Tensor:
        x, dual = x.chunk(2, dim=-1)
        y = block.sublayer(x)
        return torch.cat([block.norm(x + y), dual + y], dim=-1)

    def end(self, final_norm: nn.Module) -> nn.Module:
        return SumOfStreams(final_norm)


class SumOfStreams(nn.Module):
    """``x + LN(dual)``."""

    def __init__(self, norm: nn.Module):
        super().__init__()
        self.norm = norm

    def forward(self, streams: Tensor) -> Tensor:
        """``(time, batch, 2 channel)`` to ``(time, batch, channel)``."""
        x, dual = streams.chunk(2, dim=-1)
        return x + self.norm(dual)
