"""ProRes: Pre-LN whose residual branches grow from nothing, those of the first layers first."""

from dataclasses import dataclass

from torch import Tensor

from ..model import register_placement
from ..placement import Block, option
from ..updates import ChangesUntil, UntilOptions


@dataclass
class ProResOptions(UntilOptions):
    """ProRes' own option."""

    updates: int = option(1000, "updates T until the first layer's branches are whole; those of layer l need T·l")


@register_placement("prores", ProResOptions)
class ProRes(ChangesUntil):
    """``x' = x + min(t / (T l), 1) F(LN(x))`` in layer l, from 1, after t updates, and a final LayerNorm (Chen et al.
    2026, "Progressive Residual Warmup for Language Model Pretraining", section 3.1, eq. 2 and 3).

    T is 1000, as in the paper's experiments of 100,000 updates (section 4.1). The blocks of a layer have its number,
    and each stack counts for itself: the paper has decoders alone. The authors train with RMSNorm, ``norm=rms_norm``.
    """

    final_norm = True

    def connect(self, x: Tensor, block: Block) -> Tensor:
        """Return ``x + min(t / (T l), 1) F(LN(x))``, ``(time, batch, channel)``."""
        return x + self.share_of(self.until * self.where.number) * block.sublayer(block.norm(x))
