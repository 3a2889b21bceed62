"""KEEL: Post-LN with a heavy residual stream and a normalised input of each sublayer."""

from dataclasses import dataclass
from typing import Optional

from torch import Tensor, nn

from ..model import register_placement
from ..placement import Block, Placement, Where, option


@dataclass
class KeelOptions:
    """KEEL's own option."""

    alpha: Optional[float] = option(  # noqa: UP045  (fairseq reads the annotation, and knows this form alone)
        None, "α, the weight of the residual stream; null: the stack's number of residual blocks"
    )


@register_placement("keel", KeelOptions)
class Keel(Placement):
    """``x' = LN(α x + F(LN(x)))`` with α = L, the stack's residual blocks (Chen & Wei 2026, "Post-LayerNorm Is Back:
    Stable, ExpressivE, and Deep", section 3, eq. 8; α > 1 may be tuned in smaller models, footnote 2).

    The first layer has no α, and its first block no outer LayerNorm (section 3.1). The paper has decoders alone: here
    each stack counts for itself, and attention to the source in a first layer has no α either. Its norms are RMSNorm,
    ``norm=rms_norm``.
    """

    final_norm = False

    def __init__(self, where: Where, options: KeelOptions):
        super().__init__(where, options)
        alpha = where.layers * where.blocks if options.alpha is None else options.alpha
        self.alpha = 1 if where.number == 1 else alpha
        self.after = nn.ModuleList(
            nn.Identity() if where.number == 1 and block == 0 else where.norm(where.width)
            for block in range(where.blocks)
        )

    def connect(self, x: Tensor, block: Block) -> Tensor:
        """Return ``LN(α x + F(LN(x)))``, ``(time, batch, channel)``."""
        return self.after[block.number](self.alpha * x + block.sublayer(block.norm(x)))
