"""The encoder and decoder layers, written once for every placement.

The modules and their parameter names are fairseq's own, so checkpoints go both ways between
``lnexp_post_ln`` / ``lnexp_pre_ln`` and fairseq's ``transformer``.
"""

from collections.abc import Callable
from typing import Any

from fairseq.modules.transformer_layer import TransformerDecoderLayerBase, TransformerEncoderLayerBase
from torch import Tensor, nn

from .attention import Attention
from .head_norms import normalise_heads
from .placement import Block, Placement, Sublayer

#: What fairseq calls the LayerNorm of the FFN's block, and those of all blocks.
FFN_NORM = "final_layer_norm"
BLOCK_NORMS = ("self_attn_layer_norm", "encoder_attn_layer_norm", FFN_NORM)

#: What fairseq calls the attentions of the blocks.
ATTENTIONS = ("self_attn", "encoder_attn")


def once(sublayer: Sublayer) -> Sublayer:
    """Return a sublayer that refuses a second call.

    An attention in incremental decoding adds a time step to its cache at each call, so a second one would change what
    later steps see, and the model would translate otherwise than it trains.
    """
    called = False

    def call(x: Tensor) -> Tensor:
        nonlocal called
        if called:
            raise RuntimeError("a placement must not call the sublayer of a block twice: keep what it returned")
        called = True
        return sublayer(x)

    return call


class Placed:
    """Layers of either side: an FFN, and residual blocks that a placement joins (a mix-in).

    The FFN is ``FFN(x) = W² ReLU(W¹ x + b¹) + b²``, with its dropouts.
    """

    placement: Placement
    self_attn: Any
    fc1: nn.Linear
    fc2: nn.Module
    activation_fn: Callable[[Tensor], Tensor]
    activation_dropout_module: nn.Module
    dropout_module: nn.Module

    def _place(self, placement: Placement) -> None:
        """Take a placement, and the LayerNorms that it wants, in the place of fairseq's."""
        self.placement, where = placement, placement.where
        for name in filter(self._has, ATTENTIONS):
            attention = getattr(self, name)
            attention.__class__ = Attention  # built as fairseq builds it for either side
            normalise_heads(attention, placement.head_norms, where.norm)
        for name in filter(self._has, BLOCK_NORMS):
            wanted = placement.block_norms and (placement.attention_block_norms or name == FFN_NORM)
            setattr(self, name, where.norm(where.width) if wanted else nn.Identity())
        self.inner_norm = where.norm(self.fc1.out_features) if placement.inner_norms else nn.Identity()
        if placement.inner_norms:
            self.self_attn.out_proj = nn.Sequential(where.norm(where.width), self.self_attn.out_proj)
            # otherwise fairseq leaves attention to torch, which takes only a projection's weight
            self.self_attn.skip_embed_dim_check = True

    def _has(self, name: str) -> bool:
        """Return whether fairseq's layer has a module of this name."""
        return getattr(self, name, None) is not None

    def _connect(self, x: Tensor, *blocks: tuple[Sublayer, Sublayer]) -> Tensor:
        """Return the layer's output, given each block's sublayer and norm in their order."""
        each = [Block(number, once(sublayer), norm) for number, (sublayer, norm) in enumerate(blocks)]
        return self.placement(x, each)

    def feed_forward(self, x: Tensor) -> Tensor:
        """Return the FFN's output, dropout included; takes and returns ``(time, batch, channel)``."""
        hidden = self.activation_dropout_module(self.activation_fn(self.fc1(x)))
        return self.dropout_module(self.fc2(self.inner_norm(hidden)))


class EncoderLayer(Placed, TransformerEncoderLayerBase):
    """Self-attention and FFN, each joined to the residual stream by ``placement``."""

    def __init__(self, cfg, placement: Placement):
        super().__init__(cfg)
        self._place(placement)

    def forward(self, x: Tensor, encoder_padding_mask: Tensor | None) -> Tensor:
        """Return the layer's output, ``(source_time, batch, channel)``.

        Args:
            x: ``(source_time, batch, channel)``.
            encoder_padding_mask: ``(batch, source_time)``, true at padding; None where there is none.
        """

        def attend(query: Tensor) -> Tensor:
            y, _ = self.self_attn(query, query, query, key_padding_mask=encoder_padding_mask, need_weights=False)
            return self.dropout_module(y)

        return self._connect(x, (attend, self.self_attn_layer_norm), (self.feed_forward, self.final_layer_norm))


class DecoderLayer(Placed, TransformerDecoderLayerBase):
    """Self-attention, attention to the source, and FFN, each joined to the residual stream by ``placement``."""

    def __init__(self, cfg, placement: Placement):
        super().__init__(cfg)
        self._place(placement)
        # Attention weights cost a slower kernel and are read only for alignments: off until
        # fairseq's make_generation_fast_(need_attn=True) asks for them.
        self.need_attn = False

    def forward(
        self,
        x: Tensor,
        encoder_out: Tensor,
        encoder_padding_mask: Tensor | None,
        incremental_state: dict | None = None,
        self_attn_mask: Tensor | None = None,
        self_attn_padding_mask: Tensor | None = None,
        need_attn: bool = False,
        need_head_weights: bool = False,
    ) -> tuple[Tensor, Tensor | None, None]:
        """Return the layer's output and its attention to the source.

        Args:
            x: ``(target_time, batch, channel)``; one time step when ``incremental_state`` is given.
            encoder_out: ``(source_time, batch, channel)``.
            encoder_padding_mask: ``(batch, source_time)``, true at padding; None where there is none.
            incremental_state: fairseq's cache of keys and values, changed in place.
            self_attn_mask: ``(target_time, target_time)``, -inf at the future.
            self_attn_padding_mask: ``(batch, target_time)``, true at padding.
            need_attn: return the attention to the source, averaged over heads.
            need_head_weights: return the attention to the source head by head.

        Returns:
            The new hidden states, the attention weights or None, and None (fairseq's slot for an ONNX state).
        """
        source_attention: list[Tensor | None] = []

        def attend_to_target(query: Tensor) -> Tensor:
            y, _ = self.self_attn(
                query,
                query,
                query,
                key_padding_mask=self_attn_padding_mask,
                incremental_state=incremental_state,
                need_weights=False,
                attn_mask=self_attn_mask,
            )
            return self.dropout_module(y)

        def attend_to_source(query: Tensor) -> Tensor:
            y, weights = self.encoder_attn(
                query,
                encoder_out,
                encoder_out,
                key_padding_mask=encoder_padding_mask,
                incremental_state=incremental_state,
                static_kv=incremental_state is not None,  # where nothing is cached, it only costs the fast kernel
                need_weights=need_attn and self.need_attn,
                need_head_weights=need_head_weights and self.need_attn,
            )
            source_attention.append(weights)
            return self.dropout_module(y)

        x = self._connect(
            x,
            (attend_to_target, self.self_attn_layer_norm),
            (attend_to_source, self.encoder_attn_layer_norm),
            (self.feed_forward, self.final_layer_norm),
        )
        return x, source_attention[0], None
