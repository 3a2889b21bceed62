"""BranchNorm: Post-LN whose residual branches grow from nothing."""

from dataclasses import dataclass

from torch import Tensor

from ..model import register_placement
from ..placement import Block, option
from ..updates import ChangesUntil, UntilOptions


@dataclass
class BranchNormOptions(UntilOptions):
    """BranchNorm's own option."""

    updates: int = option(1000, "updates T until the branches are whole, and the model Post-LN")


@register_placement("branch_norm", BranchNormOptions)
class BranchNorm(ChangesUntil):
    """``x' = LN(x + min(t / T, 1) F(x))`` after t updates (Liu et al. 2023, "BranchNorm: Robustly Scaling Extremely
    Deep Transformers", arXiv 2305.02790).

    The schedule is from Chen et al. 2026, "Progressive Residual Warmup for Language Model Pretraining": BranchNorm is
    Post-LN with the schedule "equal" of their Table 5 (section 4.3, footnote 3). The default of T is ours.
    """

    final_norm = False

    def connect(self, x: Tensor, block: Block) -> Tensor:
        """Return ``LN(x + min(t / T, 1) F(x))``, ``(time, batch, channel)``."""
        return block.norm(x + self.share_of(self.until) * block.sublayer(x))
