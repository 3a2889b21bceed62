"""Post-LN: the original Transformer."""

from torch import Tensor

from ..model import register_placement
from ..placement import Block, Placement


@register_placement("post_ln")
class PostLN(Placement):
    """``x' = LN(x + F(x))``: LayerNorm between the residual blocks (Xiong et al. 2020, Table 1, left column)."""

    final_norm = False

    def connect(self, x: Tensor, block: Block) -> Tensor:
        """Return ``LN(x + F(x))``, ``(time, batch, channel)``."""
        return block.norm(x + block.sublayer(x))
