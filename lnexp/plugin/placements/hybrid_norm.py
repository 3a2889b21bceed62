"""HybridNorm: normalised queries, keys and values, and a Post-LN FFN."""

from dataclasses import dataclass

from torch import Tensor

from ..model import register_placement
from ..placement import Block, Placement, Where, option


@dataclass
class HybridNormOptions:
    """HybridNorm's own option."""

    first_pre_ln: bool = option(False, "Pre-LN in the blocks of a stack's first layer: the paper's HybridNorm*")


@register_placement("hybrid_norm", HybridNormOptions)
class HybridNorm(Placement):
    """``y = x + F(x)`` for attention, ``x' = LN(y) + F(LN(y))`` for the FFN, and a final LayerNorm (Zhuo et al. 2025,
    "HybridNorm: Towards Stable and Efficient Transformer Training via Hybrid Normalization", section 3, eq. 6).

    Attention normalises its queries, keys and values, each over the channels of a head, and nothing else (eq. 5 and
    appendix C.3, algorithm 1). With ``first_pre_ln`` the blocks of the first layer are ``x + F(LN(x))`` (eq. 7). The
    paper has decoders alone: attention to the source is treated as any attention here, and each stack has a first
    layer. Its experiments have RMSNorm, ``norm=rms_norm``, and start from Megatron's smaller output projections, which
    are left out here (section 5.4 compares others).
    """

    final_norm = True
    head_norms = frozenset("qkv")

    def __init__(self, where: Where, options: HybridNormOptions):
        super().__init__(where, options)
        self.is_pre_ln = options.first_pre_ln and where.number == 1
        self.attention_block_norms = self.is_pre_ln

    def connect(self, x: Tensor, block: Block) -> Tensor:
        """Return ``LN(x) + F(LN(x))``, in a Pre-LN layer ``x + F(LN(x))``; attention's LN is else the identity."""
        normal = block.norm(x)
        return (x if self.is_pre_ln else normal) + block.sublayer(normal)
