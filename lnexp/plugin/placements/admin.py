"""Admin: Post-LN whose residual stream weighs as much as what was added to it so far."""

from typing import Any

import torch
from torch import Tensor, nn

from ..model import register_placement
from ..placement import Block, Placement, Profile, Where
from ..scale import Scale


@register_placement("admin")
class Admin(Placement):
    """``x' = LN(ω ⊙ x + F(x))`` (Liu et al. 2020, "Understanding the Difficulty of Training Transformers", section 4).

    ω is learned, a number a channel. It starts from one pass over the first batch: 1 in the first block of a stack, and
    in each next one ``ω² = Var[ω x] + Var[F(x)]`` of the block before, as in the authors' code, but without padding
    and dropout.
    """

    final_norm = False
    profiled: Tensor

    def __init__(self, where: Where):
        super().__init__(where)
        self.omega = nn.ModuleList(Scale(where.width, start=1.0) for _ in range(where.blocks))
        self.register_buffer("profiled", torch.tensor(False))

    def asks_for_profile(self) -> bool:
        return not self.profiled

    def connect(self, x: Tensor, block: Block) -> Tensor:
        y = block.sublayer(x)
        if self.profile is not None:
            self._start_from(x, y, self.omega[block.number], self.profile)
        return block.norm(self.omega[block.number](x) + y)

    def _start_from(self, x: Tensor, y: Tensor, omega: Any, profile: Profile) -> None:
        side = self.where.side
        if side in profile.carried:  # by the block before
            omega.set_all(profile.carried[side])
        kept = profile.kept[side]
        profile.carried[side] = (omega.variance(omega(x), kept) + omega.variance(y, kept)).sqrt()
        self.profiled.fill_(True)
