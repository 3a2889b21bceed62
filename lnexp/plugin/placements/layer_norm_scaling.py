"""LayerNorm Scaling: Pre-LN whose norms are divided by the square root of the layer's number."""

from torch import Tensor

from ..model import register_placement
from ..placement import Block, Placement


@register_placement("layer_norm_scaling")
class LayerNormScaling(Placement):
    """``x' = x + F(LN(x) / √l)`` in layer l, from 1, and a final LayerNorm, not scaled (Sun et al. 2025, "The Curse of
    Depth in Large Language Models", section 4).

    The blocks of a layer have its number, and each stack counts for itself: the source has decoders alone, and
    RMSNorm, ``norm=rms_norm``. In attention to the source the norm's output gives the queries alone, so dividing it
    leaves that block's output as large as in Pre-LN, where the other blocks' becomes smaller with depth.
    """

    final_norm = True

    def connect(self, x: Tensor, block: Block) -> Tensor:
        """Return ``x + F(LN(x) / √l)``, ``(time, batch, channel)``."""
        return x + block.sublayer(block.norm(x) / self.where.number**0.5)
