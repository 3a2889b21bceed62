"""Sub-LN: Pre-LN with a second LayerNorm within the sublayer."""

import math

import torch
from torch import nn

from ..model import register_placement
from ..placement import Where
from .pre_ln import PreLN


@register_placement("sub_ln")
class SubLN(PreLN):
    """Pre-LN, and a LayerNorm before self-attention's output projection and before the FFN's W² (Wang et al. 2022,
    "Foundation Transformers", section 3.1).

    The weights of the FFN and of value and output projections start γ times as large (section 3.2): for N encoder and M
    decoder layers ``γ² = ln(3M) ln(2N) / 3`` in the encoder and ``γ² = ln(3M)`` in the decoder, whose attention to
    the source has neither (section 2). A stack of N layers alone has ``γ² = ln(2N)``.
    """

    inner_norms = True

    def __init__(self, where: Where, options: None = None):
        super().__init__(where, options)
        n, m = where.encoder_layers, where.decoder_layers
        if not (n and m):
            square = math.log(2 * (n + m))
        elif where.side == "encoder":
            square = math.log(3 * m) * math.log(2 * n) / 3
        else:
            square = math.log(3 * m)
        self.gamma = math.sqrt(square)

    @torch.no_grad()
    def initialise(self, layer: nn.Module) -> None:
        """Multiply the weights of the FFN and of value and output projections by γ, but to the source, in place."""
        for name, parameter in layer.named_parameters():
            scaled = any(part in name for part in ("fc1", "fc2", "v_proj", "out_proj")) and parameter.dim() == 2
            if scaled and not name.startswith("encoder_attn"):
                parameter.mul_(self.gamma)
