"""ReZero: no normalisation, and every layer starts as the identity."""

from torch import Tensor

from ..model import register_placement
from ..placement import Block, Placement, Where
from ..scale import Scale


@register_placement("rezero")
class ReZero(Placement):
    """``x' = x + α F(x)`` with α = 0 at the start (Bachlechner et al. 2020, "ReZero is All You Need", eq. 1).

    A layer's blocks share one α, as in the paper's Transformer; there is no LayerNorm. The weights start as in
    ``torch.nn.Transformer``, whatever ``init`` is: the authors' layers are built into one, which draws their weights
    from uniform Xavier (github.com/majumderb/rezero, rezero/transformer/rztx.py: ``Transformer``).
    """

    final_norm = False
    starts_from = "torch_transformer"
    block_norms = False

    def __init__(self, where: Where, options: None = None):
        super().__init__(where, options)
        self.alpha = Scale(1, start=0.0)

    def connect(self, x: Tensor, block: Block) -> Tensor:
        """Return ``x + α F(x)``, ``(time, batch, channel)``."""
        return x + self.alpha(block.sublayer(x))
