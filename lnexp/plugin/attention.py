"""Multi-head attention: fairseq's, with plain products where a batch has many short sequences on a CPU."""

import torch
from fairseq.modules import MultiheadAttention
from torch import Tensor
from torch.nn.functional import pad

#: Up to this many positions two products and a softmax are faster on a CPU than torch's attention kernel: 2.0 ms
#: against 4.2 ms at 12 positions, 2.9 against 3.7 at 40, 3.4 against 3.1 at 48 (4 heads of 16 channels, 3,500 tokens,
#: forward and backward, an AMD EPYC with AVX-512).
SHORT = 40
#: So many numbers fill a vector of the widest instructions. Softmax over fewer goes one by one: 14,280 rows of 10
#: numbers take 1.8 ms, as many of 16 take 0.2 ms.
FULL = 16


class Attention(MultiheadAttention):
    """fairseq's attention, faster for short sequences on a CPU; parameters and their names are fairseq's."""

    def forward(
        self,
        query: Tensor,
        key: Tensor,
        value: Tensor,
        key_padding_mask: Tensor | None = None,
        incremental_state: dict | None = None,
        need_weights: bool = True,
        static_kv: bool = False,
        attn_mask: Tensor | None = None,
        **further: bool,
    ) -> tuple[Tensor, Tensor | None]:
        """Return the attended values, projected, and attention weights or None.

        All arguments are fairseq's; the further ones ask for weights of another kind.
        """
        dropout = self.dropout_module.p if self.training else 0.0
        in_full = need_weights or any(further.values()) or incremental_state is not None
        if in_full or not is_short(query, key, dropout):
            masks = (key_padding_mask, incremental_state, need_weights, static_kv, attn_mask)
            return super().forward(query, key, value, *masks, **further)
        q, k, v = (
            by_head(project(x).transpose(0, 1), self.num_heads)
            for project, x in ((self.q_proj, query), (self.k_proj, key), (self.v_proj, value))
        )
        y = attend_short(q, k, v, key_padding_mask, attn_mask)
        return self.out_proj(y.permute(2, 0, 1, 3).flatten(2)), None


def is_short(query: Tensor, key: Tensor, dropout: float) -> bool:
    """Return whether :func:`attend_short` is the faster one for a batch.

    Args:
        query: ``(target_time, batch, channel)``.
        key: ``(source_time, batch, channel)``.
        dropout: of the attention weights; torch's kernel draws it.
    """
    fits = query.device.type == "cpu" and query.dtype in (torch.float32, torch.float64)
    return fits and not dropout and max(query.size(0), key.size(0)) <= SHORT


def by_head(x: Tensor, heads: int) -> Tensor:
    """Return ``(rows, time, channel)`` by head: ``(rows, head, time, channel of the head)``."""
    return x.unflatten(2, (heads, -1)).transpose(1, 2)


def attend_short(q: Tensor, k: Tensor, v: Tensor, padding: Tensor | None, future: Tensor | None) -> Tensor:
    """Return ``softmax(q kᵀ / √d + mask) v``, ``(rows, head, target_time, d)``.

    Args:
        q: ``(rows, head, target_time, d)``.
        k, v: ``(rows, head, source_time, d)``.
        padding: ``(rows, source_time)``, true at what is hidden from all targets.
        future: ``(target_time, source_time)``, -inf at what is hidden from a target.
    """
    rows, heads = q.shape[:2]
    q, k, v = (x.flatten(0, 1) for x in (q, k, v))
    mask, beta = q.new_zeros(()), 0
    if future is not None:
        mask, beta = future, 1
    if padding is not None:
        hidden = mask.new_zeros(padding.shape).masked_fill_(padding, -torch.inf).repeat_interleave(heads, dim=0)
        mask, beta = mask + hidden.unsqueeze(1), 1
    scores = torch.baddbmm(mask, q, k.transpose(1, 2), beta=beta, alpha=q.size(2) ** -0.5)
    return torch.bmm(_softmax(scores), v).unflatten(0, (rows, heads))


def _softmax(scores: Tensor) -> Tensor:
    """Return the softmax over the last dimension; fewer than :data:`FULL` scores get others of -inf behind them."""
    few = scores.size(-1)
    if few >= FULL:
        return scores.softmax(dim=-1)
    return pad(scores, (0, FULL - few), value=-torch.inf).softmax(dim=-1)[..., :few]
