"""Reordered norm: a LayerNorm on the output of each sublayer, none on the residual stream."""

from torch import Tensor

from ..model import register_placement
from ..placement import Block, Placement


@register_placement("reordered_norm")
class ReorderedNorm(Placement):
    """``x' = x + LN(F(x))`` and a final LayerNorm (OLMo 2's reordered norm: Team OLMo 2024, "2 OLMo 2 Furious",
    sections 2.1 and 3.3.2; res-post-norm in Liu et al. 2022, "Swin Transformer V2").

    Each block adds a normalised vector, so at initialisation the variance of hidden states grows by one a block. OLMo 2
    has RMSNorm, ``norm=rms_norm``, and a norm of queries and keys, ``qk_norm=true``; neither the order nor that norm
    alone gave good results, its authors write. Swin's code starts the norms' weights at zero; here and in OLMo 2 they
    start at one.
    """

    final_norm = True

    def connect(self, x: Tensor, block: Block) -> Tensor:
        """Return ``x + LN(F(x))``, ``(time, batch, channel)``."""
        return x + block.norm(block.sublayer(x))
