"""Peri-LN: a LayerNorm on both sides of a sublayer."""

from torch import Tensor, nn

from ..model import register_placement
from ..placement import Block, Placement, Where


@register_placement("peri_ln")
class PeriLN(Placement):
    """``x' = x + LN(F(LN(x)))`` and a final LayerNorm (Kim et al. 2025, "Peri-LN: Revisiting Normalization Layer in the
    Transformer Architecture", section 3).

    Each block adds a normalised vector, so at initialisation the variance of hidden states grows by one a block. The
    paper's normalisation of the embedding, which it calls optional, is left out.

    Sandwich-LN (Ding et al. 2021, "CogView: Mastering Text-to-Image Generation via Transformers", section 2.4) has the
    same formula and final LayerNorm; ``model=sandwich_ln`` is this model. Its authors' code divides what is normalised
    by the largest number in it, against overflow, which a LayerNorm undoes (github.com/THUDM/CogView,
    mpu/sparse_transformer.py).
    """

    final_norm = True

    def __init__(self, where: Where, options: None = None):
        super().__init__(where, options)
        self.after = nn.ModuleList(where.norm(where.width) for _ in range(where.blocks))

    def connect(self, x: Tensor, block: Block) -> Tensor:
        """Return ``x + LN(F(LN(x)))``, ``(time, batch, channel)``."""
        return x + self.after[block.number](block.sublayer(block.norm(x)))
