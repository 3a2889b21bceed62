"""B2T: Post-LN with a path from the bottom of a layer to its top."""

from collections.abc import Sequence
from dataclasses import replace

import torch
from torch import Tensor, nn

from ..model import register_placement
from ..placement import Block
from .post_ln import PostLN


@register_placement("b2t")
class B2T(PostLN):
    """Post-LN whose last LayerNorm takes in the layer's input, too: ``LN(x_in + y + FFN(y))`` (y: FFN's input).

    Takase et al. 2022, "B2T Connection: Serving Stability and Performance in Deep Transformers" (arXiv 2206.00330,
    first with another title), section 4. The path bypasses all LayerNorms of a layer but the last. The matrices of a
    layer start N^(−1/2) times as large as fairseq's own, for N layers on its side, whatever ``init`` is
    (github.com/takase/b2t_connection, fairseq/modules/transformer_layer.py: ``rescaling_init``, over fairseq's
    attention and a bare ``nn.Linear``).
    """

    starts_from = "fairseq"

    def forward(self, x: Tensor, blocks: Sequence[Block]) -> Tensor:
        """Return the layer's output, ``(time, batch, channel)``; its input is added before the last LayerNorm."""
        *attention, ffn = blocks
        y = super().forward(x, attention)
        return self.connect(x + y, replace(ffn, sublayer=lambda _: ffn.sublayer(y)))

    @torch.no_grad()
    def initialise(self, layer: nn.Module) -> None:
        """Multiply every matrix by N^(−1/2), in place."""
        for parameter in layer.parameters():
            if parameter.dim() == 2:
                parameter.mul_(self.where.layers**-0.5)
