"""The leaf modules of a Transformer with a member axis on every parameter.

An array of ``S`` members is one module whose batch is the members' batches behind each other: ``S·B`` rows, the first
``B`` of them the first member's. What is between the leaves (residual streams, dropout, the placement of LayerNorms)
treats every row alike, so it is the single model's own code.

Shapes: hidden states are ``(time, S·B, channel)`` as in fairseq, but lie in memory with the time behind the rows, so
that each member's are one matrix and no leaf has to copy them.
"""

from collections.abc import Callable, Sequence
from typing import Any

import torch
from fairseq.modules import MultiheadAttention
from torch import Tensor, nn
from torch.nn import functional

from ..norms.scale_norm import ScaleNorm, unit_length
from ..scale import Scale, variance


class Parameters:
    """The parameters of equal models with a member axis in front, found by the first model's; ties are kept."""

    def __init__(self, members: Sequence[nn.Module]):
        named = [dict(member.named_parameters()) for member in members]
        self._stacked = {
            id(parameter): nn.Parameter(torch.stack([parameters[name].data for parameters in named]))
            for name, parameter in named[0].items()
        }

    def __getitem__(self, single: Tensor) -> nn.Parameter:
        return self._stacked[id(single)]


class StackedLinear(nn.Module):
    """``S`` linear maps: ``weight`` is ``(S, out, in)``, ``bias`` ``(S, out)`` or None."""

    def __init__(self, single: nn.Linear, parameters: Parameters):
        super().__init__()
        self.weight = parameters[single.weight]
        self.bias = None if single.bias is None else parameters[single.bias]

    def forward(self, x: Tensor) -> Tensor:
        """``(time, S·B, in)`` to ``(time, S·B, out)``."""
        rows = x.transpose(0, 1)
        flat = rows.reshape(self.weight.size(0), -1, x.size(-1))
        weight = self.weight.to(x.dtype).transpose(1, 2)
        if self.bias is None:
            y = torch.bmm(flat, weight)
        else:
            y = torch.baddbmm(self.bias.to(x.dtype).unsqueeze(1), flat, weight)
        return y.view(*rows.shape[:2], -1).transpose(0, 1)


class StackedLayerNorm(nn.Module):
    """``S`` layer normalisations: ``weight`` and ``bias`` are ``(S, channel)``."""

    def __init__(self, single: nn.LayerNorm, parameters: Parameters):
        super().__init__()
        self.normalized_shape, self.eps = single.normalized_shape, single.eps
        self.weight = parameters[single.weight]
        self.bias = parameters[single.bias]

    def forward(self, x: Tensor) -> Tensor:
        """``(time, S·B, channel)``, both ways."""
        members = self.weight.size(0)
        rows = x.transpose(0, 1)
        normal = functional.layer_norm(
            rows.reshape(members, -1, x.size(-1)), self.normalized_shape, None, None, self.eps
        )
        weight, bias = (parameter.to(x.dtype).unsqueeze(1) for parameter in (self.weight, self.bias))
        return torch.addcmul(bias, normal, weight).view(rows.shape).transpose(0, 1)


class StackedScale(nn.Module):
    """``S`` learned multiplications: ``weight`` is ``(S, size)``."""

    def __init__(self, single: nn.Module, parameters: Parameters):
        super().__init__()
        self.weight = parameters[single.get_parameter("weight")]

    def forward(self, x: Tensor) -> Tensor:
        """``(time, S·B, channel)``, both ways."""
        rows = self.normal(x.transpose(0, 1))
        weight = self.weight.to(x.dtype).unsqueeze(1)
        return (rows.reshape(len(weight), -1, x.size(-1)) * weight).view(rows.shape).transpose(0, 1)

    def normal(self, rows: Tensor) -> Tensor:
        """What is multiplied: ``(S·B, time, channel)``, both ways."""
        return rows

    @torch.no_grad()
    def set_all(self, numbers: Tensor) -> None:
        """Every number of a member becomes this one, ``(S,)``."""
        self.weight.copy_(numbers.unsqueeze(1).expand_as(self.weight))

    def variance(self, x: Tensor, kept: Tensor) -> Tensor:
        """Of all numbers of each member, ``(time, S·B, channel)``, where ``(time, B)`` are kept: ``(S,)``."""
        members = x.chunk(self.weight.size(0), dim=1)
        return torch.stack([variance(member[kept]) for member in members])


class StackedRMSNorm(StackedScale):
    """``S`` normalisations by the root mean square: ``weight`` is ``(S, channel)``."""

    def __init__(self, single: nn.RMSNorm, parameters: Parameters):
        super().__init__(single, parameters)
        self.normalized_shape, self.eps = list(single.normalized_shape), single.eps

    def normal(self, rows: Tensor) -> Tensor:
        return functional.rms_norm(rows, self.normalized_shape, None, self.eps)


class StackedScaleNorm(StackedScale):
    """``S`` normalisations to a learned length: ``weight`` is ``(S, 1)``."""

    def __init__(self, single: ScaleNorm, parameters: Parameters):
        super().__init__(single, parameters)
        self.eps = single.eps

    def normal(self, rows: Tensor) -> Tensor:
        return unit_length(rows, self.eps)


class StackedEmbedding(nn.Module):
    """``S`` embeddings: ``weight`` is ``(S, words, channel)``."""

    def __init__(self, single: nn.Embedding, parameters: Parameters):
        super().__init__()
        self.embedding_dim, self.padding_idx = single.embedding_dim, single.padding_idx
        self.weight = parameters[single.weight]
        self.dtype: torch.dtype | None = None  # of the hidden states from here on; None: the parameters'

    def forward(self, tokens: Tensor) -> Tensor:
        """``(S·B, time)`` to ``(S·B, time, channel)``."""
        members = zip(tokens.chunk(self.weight.size(0)), self.weight, strict=True)
        embedded = torch.cat([functional.embedding(rows, weight) for rows, weight in members])
        return embedded if self.dtype is None else embedded.to(self.dtype)


class StackedAttention(nn.Module):
    """``S`` multi-head attentions; the signature is that of fairseq's ``MultiheadAttention``.

    In translation, keys and values are cached, and the ``k`` hypotheses of a sentence share those of its source.
    """

    def __init__(self, single: MultiheadAttention, parameters: Parameters):
        super().__init__()
        self.num_heads, self.dropout = single.num_heads, single.dropout_module.p
        self.to_source = single.encoder_decoder_attention  # keys and values are then the same at each step
        self.k_proj = StackedLinear(single.k_proj, parameters)
        self.v_proj = StackedLinear(single.v_proj, parameters)
        self.q_proj = StackedLinear(single.q_proj, parameters)
        self.out_proj = _stacked(single.out_proj, parameters)  # there may be a norm before it

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
        """Attend.

        Args:
            query: ``(target_time, S·B, channel)``; of ``k`` hypotheses a sentence ``(1, S·B·k, channel)``.
            key, value: ``(source_time, S·B, channel)``.
            key_padding_mask: ``(S·B, source_time)``, true at padding.
            incremental_state: the cache, changed in place.
            need_weights, static_kv, need_head_weights: of fairseq's signature, without effect.
            attn_mask: anything but None hides the future. What it hides includes all padding behind a sentence, so
                ``key_padding_mask`` is not looked at then.

        Returns:
            The new hidden states, shaped as ``query``, and None: there are no weights to be had.
        """
        q = self.q_proj(query).transpose(0, 1)
        k, v = self._keys_and_values(key, value, incremental_state)
        q = self._heads(q.reshape(k.size(0), -1, q.size(-1)))  # hypotheses of a sentence stand where times do
        mask = None
        if key_padding_mask is not None and attn_mask is None:
            mask = ~key_padding_mask[:, None, None, :]
        dropout = self.dropout if self.training else 0.0
        y = functional.scaled_dot_product_attention(q, k, v, mask, dropout, is_causal=attn_mask is not None)
        y = y.transpose(1, 2).reshape(query.size(1), query.size(0), -1)
        return self.out_proj(y.transpose(0, 1)), None

    def _heads(self, x: Tensor) -> Tensor:
        """``(rows, time, channel)`` to ``(rows, head, time, channel of the head)``."""
        return x.view(*x.shape[:2], self.num_heads, -1).transpose(1, 2)

    def _keys_and_values(self, key: Tensor, value: Tensor, cache: dict | None) -> tuple[Tensor, Tensor]:
        """Those to attend to, each ``(rows, head, time, channel of the head)``."""
        if cache is not None and self.to_source and self in cache:
            return cache[self]
        k, v = (self._heads(project(x).transpose(0, 1)) for project, x in ((self.k_proj, key), (self.v_proj, value)))
        if cache is None:
            return k, v
        if self in cache:
            k, v = (torch.cat(pair, dim=2) for pair in zip(cache[self], (k, v), strict=True))
        cache[self] = k, v
        return k, v


STACKED: dict[type[nn.Module], Callable[[Any, Parameters], nn.Module]] = {
    nn.Linear: StackedLinear,
    nn.LayerNorm: StackedLayerNorm,
    nn.Embedding: StackedEmbedding,
    nn.RMSNorm: StackedRMSNorm,
    ScaleNorm: StackedScaleNorm,
    Scale: StackedScale,
    MultiheadAttention: StackedAttention,
}


def stack(members: Sequence[nn.Module]) -> nn.Module:
    """Make the first of some equal models their array: each of its leaves gives way to the stacked form.

    Names and order of the parameters stay as they are, and so do ties between them.

    Raises:
        ValueError: where a module has parameters and no stacked form.
    """
    return _stacked(members[0], Parameters(members))


def _stacked(module: nn.Module, parameters: Parameters) -> nn.Module:
    """The stacked form of a leaf; another module with its leaves in their stacked form."""
    if type(module) in STACKED:
        return STACKED[type(module)](module, parameters)
    if next(module.parameters(recurse=False), None) is not None:
        raise ValueError(f"{type(module).__name__} has parameters and no form for arrays")
    for name, child in module.named_children():
        module.add_module(name, _stacked(child, parameters))
    return module
