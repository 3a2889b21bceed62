"""Mix-LN: Post-LN in the first layers of a stack, Pre-LN in the others."""

from dataclasses import dataclass

from ..model import register_placement
from ..placement import Placement, Where, option
from .post_ln import PostLN
from .pre_ln import PreLN


@dataclass
class MixLNOptions:
    """Mix-LN's own option."""

    alpha: float = option(0.25, "the share α of a stack's layers that are Post-LN: the first ⌊αL⌋ of L")


@register_placement("mix_ln", MixLNOptions)
def mix_ln(where: Where, options: MixLNOptions) -> Placement:
    """Return Post-LN for the first ⌊αL⌋ of a stack's L layers and Pre-LN for the others (Li et al. 2024, "Mix-LN:
    Unleashing the Power of Deeper Layers by Combining Pre-LN and Post-LN", section 3).

    α is 0.25, the paper's choice; it has decoders alone, so each stack is divided for itself here. A stack whose last
    layer is Pre-LN ends with a LayerNorm. The authors train with RMSNorm, ``norm=rms_norm``.

    Raises:
        ValueError: for an α that is no share.
    """
    if not 0 <= options.alpha <= 1:
        raise ValueError(f"mix_ln_alpha={options.alpha}: must be from 0 to 1")
    return (PostLN if where.number <= int(options.alpha * where.layers) else PreLN)(where)
