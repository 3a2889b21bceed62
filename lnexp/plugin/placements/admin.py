"""Admin: Post-LN whose residual stream is weighted by the variance of what was added to it so far."""

from typing import Any

import torch
from torch import Tensor, nn

from ..model import register_placement
from ..placement import Block, FirstBatch, Placement, Where
from ..scale import Scale


@register_placement("admin")
class Admin(Placement):
    """``x' = LN(ω ⊙ x + F(x))`` (Liu et al. 2020, "Understanding the Difficulty of Training Transformers", section 4).

    ω is learned, a number a channel. It starts from one pass over the first batch: 1 in the first block of a stack, and
    in each next one ``ω² = Var[ω x] + Var[F(x)]`` of the block before, as in the authors' code, but without padding
    and dropout.

    Weights start from uniform Xavier and biases from zero, whatever ``init`` is (their code,
    github.com/LiyuanLucasLiu/Transformer-Clinic, fairseq/fairseq/modules, layer and attention).
    """

    final_norm = False
    starts_from = "xavier_uniform"
    profiled: Tensor  # whether the first batch was seen; checkpoints have the name, so it stays

    def __init__(self, where: Where, options: None = None):
        super().__init__(where, options)
        self.omega = nn.ModuleList(Scale(where.width, start=1.0) for _ in range(where.blocks))
        self.register_buffer("profiled", torch.tensor(False))

    def wants_first_batch(self) -> bool:
        """Return whether ω still has to start from a batch."""
        return not self.profiled

    def connect(self, x: Tensor, block: Block) -> Tensor:
        """Return ``LN(ω ⊙ x + F(x))``, ``(time, batch, channel)``."""
        y = block.sublayer(x)
        if self.first_batch is not None:
            self._start_from(x, y, self.omega[block.number], self.first_batch)
        return block.norm(self.omega[block.number](x) + y)

    def _start_from(self, x: Tensor, y: Tensor, omega: Any, first_batch: FirstBatch) -> None:
        """Set a block's ω from what the block before has measured, and measure for the next block."""
        side = self.where.side
        if side in first_batch.carried:  # by the block before
            omega.set_all(first_batch.carried[side])
        kept = first_batch.kept[side]
        first_batch.carried[side] = (omega.variance(omega(x), kept) + omega.variance(y, kept)).sqrt()
        self.profiled.fill_(True)
