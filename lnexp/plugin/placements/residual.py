"""ResiDual: a Post-LN residual stream beside one that is never normalised."""

from collections.abc import Sequence

import torch
from torch import Tensor, nn

from ..model import register_placement
from ..placement import Block, Placement


@register_placement("residual")
class ResiDual(Placement):
    """Post-LN beside a second stream that is never normalised (Xie et al. 2023, "ResiDual: Transformer with Dual
    Residual Connections"; github.com/microsoft/ResiDual).

    ``y = F(x)``, ``x' = LN(x + y)``, ``dual' = dual + y``; both start at the embedding, and a stack returns
    ``x + LN(dual)``. Between layers the two lie behind each other, as ``(time, batch, 2 channel)``.
    """

    final_norm = True

    def forward(self, x: Tensor, blocks: Sequence[Block]) -> Tensor:
        """Return both streams after the layer, ``(time, batch, 2 channel)``; the first layer gets one stream."""
        first = x.size(-1) == self.where.width
        return super().forward(torch.cat([x, x], dim=-1) if first else x, blocks)

    def connect(self, x: Tensor, block: Block) -> Tensor:
        """Return both streams after a block; takes and returns ``(time, batch, 2 channel)``."""
        x, dual = x.chunk(2, dim=-1)
        y = block.sublayer(x)
        return torch.cat([block.norm(x + y), dual + y], dim=-1)

    def end(self, final_norm: nn.Module) -> nn.Module:
        """Return the module that makes one stream of two."""
        return SumOfStreams(final_norm)


class SumOfStreams(nn.Module):
    """The end of a stack of two streams: ``x + LN(dual)``."""

    def __init__(self, norm: nn.Module):
        super().__init__()
        self.norm = norm

    def forward(self, streams: Tensor) -> Tensor:
        """Return ``x + LN(dual)``, ``(time, batch, channel)``, of streams ``(time, batch, 2 channel)``."""
        x, dual = streams.chunk(2, dim=-1)
        return x + self.norm(dual)
