"""The stacked forms of torch's and fairseq's leaf modules: a member axis on every parameter.

An array of ``S`` members is one module whose batch is the members' batches behind each other: ``S·B`` rows, the first
``B`` of them the first member's. What is between the leaves (residual streams, dropout, the placement of LayerNorms)
treats every row alike, so it is the single model's own code.

Shapes: hidden states are ``(time, S·B, channel)`` as in fairseq, but lie in memory with the time behind the rows, so
that each member's are one matrix and no leaf has to copy them.

The forms of our own leaves stand beside the leaves, see :mod:`..stacking`.
"""

import torch
from torch import Tensor, nn
from torch.nn import functional

from ..attention import Attention, attend_short, by_head, is_short
from ..head_norms import NormalisedProjection, by_heads
from ..stacking import Parameters, stacked, stacked_form


@stacked_form(nn.Linear)
class StackedLinear(nn.Module):
    """``S`` linear maps: ``weight`` is ``(S, out, in)``, ``bias`` ``(S, out)`` or None."""

    def __init__(self, single: nn.Linear, parameters: Parameters):
        super().__init__()
        self.weight = parameters[single.weight]
        self.bias = None if single.bias is None else parameters[single.bias]

    def forward(self, x: Tensor) -> Tensor:
        """Return the mapped hidden states, ``(time, S·B, out)``, of ``(time, S·B, in)``."""
        rows = x.transpose(0, 1)
        flat = rows.reshape(self.weight.size(0), -1, x.size(-1))
        weight = self.weight.to(x.dtype).transpose(1, 2)
        if self.bias is None:
            y = torch.bmm(flat, weight)
        else:
            y = torch.baddbmm(self.bias.to(x.dtype).unsqueeze(1), flat, weight)
        return y.view(*rows.shape[:2], -1).transpose(0, 1)


@stacked_form(NormalisedProjection)
class StackedNormalisedProjection(StackedLinear):
    """``S`` linear maps whose outputs are normalised over the channels of each head."""

    def __init__(self, single: NormalisedProjection, parameters: Parameters):
        super().__init__(single, parameters)
        self.heads, self.norm = single.heads, stacked(single.norm, parameters)

    def forward(self, x: Tensor) -> Tensor:
        """Return the normalised projections, ``(time, S·B, out)``, of ``(time, S·B, in)``."""
        return by_heads(self.norm, super().forward(x), self.heads)


@stacked_form(nn.LayerNorm)
class StackedLayerNorm(nn.Module):
    """``S`` layer normalisations: ``weight`` and ``bias`` are ``(S, channel)``."""

    def __init__(self, single: nn.LayerNorm, parameters: Parameters):
        super().__init__()
        self.normalized_shape, self.eps = single.normalized_shape, single.eps
        self.weight = parameters[single.weight]
        self.bias = parameters[single.bias]

    def forward(self, x: Tensor) -> Tensor:
        """Return the normalised hidden states; takes and returns ``(time, S·B, …, channel)``."""
        rows = x.transpose(0, 1)
        weight, bias = self.weight.to(x.dtype), self.bias.to(x.dtype)
        members = rows.reshape(weight.size(0), -1, x.size(-1))
        if x.device.type == "cpu":  # where calls cost little, the kernel that scales and shifts, too, is the fastest
            each = zip(members.unbind(), weight.unbind(), bias.unbind(), strict=True)
            y = torch.stack([functional.layer_norm(one, self.normalized_shape, w, b, self.eps) for one, w, b in each])
        else:
            normal = functional.layer_norm(members, self.normalized_shape, None, None, self.eps)
            y = torch.addcmul(bias.unsqueeze(1), normal, weight.unsqueeze(1))
        return y.view(rows.shape).transpose(0, 1)


@stacked_form(nn.Embedding)
class StackedEmbedding(nn.Module):
    """``S`` embeddings: ``weight`` is ``(S, words, channel)``."""

    def __init__(self, single: nn.Embedding, parameters: Parameters):
        super().__init__()
        self.embedding_dim, self.padding_idx = single.embedding_dim, single.padding_idx
        self.weight = parameters[single.weight]
        self.dtype: torch.dtype | None = None  # of the hidden states from here on; None: the parameters'

    def forward(self, tokens: Tensor) -> Tensor:
        """Return the vectors of tokens ``(S·B, time)``: ``(S·B, time, channel)``."""
        members = zip(tokens.chunk(self.weight.size(0)), self.weight, strict=True)
        embedded = torch.cat([functional.embedding(rows, weight) for rows, weight in members])
        return embedded if self.dtype is None else embedded.to(self.dtype)


@stacked_form(Attention)
class StackedAttention(nn.Module):
    """``S`` multi-head attentions; the signature is that of fairseq's ``MultiheadAttention``.

    In translation, keys and values are cached, and the ``k`` hypotheses of a sentence share those of its source.
    """

    def __init__(self, single: Attention, parameters: Parameters):
        super().__init__()
        self.num_heads, self.dropout = single.num_heads, single.dropout_module.p
        self.to_source = single.encoder_decoder_attention  # keys and values are then the same at each step
        self.k_proj = stacked(single.k_proj, parameters)  # there may be norms behind these three
        self.v_proj = stacked(single.v_proj, parameters)
        self.q_proj = stacked(single.q_proj, parameters)
        self.out_proj = stacked(single.out_proj, parameters)  # and one before it

    def forward(
        self,
        query: Tensor,
        key: Tensor,
        value: Tensor,
        key_padding_mask: Tensor | None = None,
        incremental_state: dict | None = None,
        need_weights: bool = False,
        static_kv: bool = False,
        attn_mask: Tensor | None = None,
        need_head_weights: bool = False,
    ) -> tuple[Tensor, None]:
        """Return the attended values, projected.

        Args:
            query: ``(target_time, S·B, channel)``; of ``k`` hypotheses a sentence ``(1, S·B·k, channel)``.
            key, value: ``(source_time, S·B, channel)``.
            key_padding_mask: ``(S·B, source_time)``, true at padding.
            incremental_state: the cache, changed in place.
            need_weights, static_kv, need_head_weights: of fairseq's signature, without effect.
            attn_mask: anything but None hides the future. What it hides includes all padding behind a sentence, so
                ``key_padding_mask`` is not looked at then.

        Returns:
            The new hidden states, shaped as ``query``, and None in the place of attention weights.
        """
        k, v = self._keys_and_values(key, value, incremental_state)
        rows = self.q_proj(query).transpose(0, 1)
        q = self._heads(rows.reshape(k.size(0), -1, rows.size(-1)))  # hypotheses of a sentence stand where times do
        padding = key_padding_mask if attn_mask is None else None
        dropout = self.dropout if self.training else 0.0
        if incremental_state is None and is_short(query, key, dropout):
            y = attend_short(q, k, v, padding, attn_mask)
        else:
            mask = None if padding is None else ~padding[:, None, None, :]
            y = functional.scaled_dot_product_attention(q, k, v, mask, dropout, is_causal=attn_mask is not None)
        y = y.transpose(1, 2).reshape(query.size(1), query.size(0), -1)
        return self.out_proj(y.transpose(0, 1)), None

    def _heads(self, x: Tensor) -> Tensor:
        """Return ``(rows, time, channel)`` by head: ``(rows, head, time, channel of the head)``."""
        return by_head(x, self.num_heads)

    def _keys_and_values(self, key: Tensor, value: Tensor, cache: dict | None) -> tuple[Tensor, Tensor]:
        """Return the keys and values to attend to, each ``(rows, head, time, channel of the head)``."""
        if cache is not None and self.to_source and self in cache:
            return cache[self]
        k, v = (self._heads(project(x).transpose(0, 1)) for project, x in ((self.k_proj, key), (self.v_proj, value)))
        if cache is None:
            return k, v
        if self in cache:
            k, v = (torch.cat(pair, dim=2) for pair in zip(cache[self], (k, v), strict=True))
        cache[self] = k, v
        return k, v
