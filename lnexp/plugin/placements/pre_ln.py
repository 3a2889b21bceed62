"""Pre-LN: the placement that the paper shows to need no warm-up."""

from torch import Tensor

from ..model import register_placement
from ..placement import Block, Placement


@register_placement("pre_ln")
class PreLN(Placement):
    """``x' = x + F(LN(x))`` and a final LayerNorm before prediction (Xiong et al. 2020, Table 1, right column)."""

    final_norm = True

    def connect(self, x: Tensor, block: Block) -> Tensor:
        """Return ``x + F(LN(x))``, ``(time, batch, channel)``."""
        return x + block.sublayer(block.norm(x))
