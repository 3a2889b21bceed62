"""Measure the attention's largest logit, and its entropy: where one grows without bound, or the other falls to zero,
attention saturates and training fails.
"""

from collections.abc import Iterator
from functools import partial
from inspect import signature
from typing import Any

import torch
from torch import Tensor
from torch.utils.hooks import RemovableHandle

from lnexp.plugin.arrays.stacked import StackedAttention
from lnexp.plugin.attention import Attention, by_head
from lnexp.training.diagnostic import Watched, register_diagnostic
from lnexp.training.forward_diagnostic import ForwardDiagnostic, in_training


@register_diagnostic
class AttentionScores(ForwardDiagnostic):
    """``attention_logit``, by attention module: the largest ``q·k/√d`` over batch, heads and positions; and
    ``attention_entropy``: the mean over queries and heads of the entropy of the weights, in nats.

    The logit is that of Wortsman et al. 2023 (arXiv 2309.14322), section 3.1.1, the entropy that of Zhai et al. 2023
    (arXiv 2303.06296), section 2; the entropy of uniform weights over n keys is log n. Both are taken in the forward
    pass of training, dropout of what comes before included. Padding, as a query or a key, and the future that a decoder
    does not see do not count.
    """

    def __init__(self, watched: Watched):
        super().__init__(watched)
        modules = watched.model.named_modules()
        self._modules = {name: one for name, one in modules if isinstance(one, Attention | StackedAttention)}
        self._signatures = {name: signature(one.forward) for name, one in self._modules.items()}
        self._found: dict[str, list[Tensor]] = {}

    def hooks(self) -> Iterator[RemovableHandle]:
        self._found = {}
        for name, module in self._modules.items():
            yield module.register_forward_pre_hook(in_training(partial(self._look, name)), with_kwargs=True)

    def found(self) -> dict[str, Tensor]:
        if not self._found:
            return {}
        mine = torch.stack([torch.stack(of_batches) for of_batches in self._found.values()]).cpu()
        every = torch.cat(self.watched.ranks.gather(mine), dim=1)  # (modules, batches, 3, S)
        largest, (total, queries) = every[:, :, 0].amax(dim=1), every[:, :, 1:].sum(dim=1).unbind(dim=1)
        measures = {"attention_logit": largest, "attention_entropy": total / queries}
        return {
            f"{measure}.{name}": value
            for measure, values in measures.items()
            for name, value in zip(self._found, values, strict=True)
        }

    def _look(self, name: str, module: Any, arguments: Any, named: Any) -> None:
        given = self._signatures[name].bind(*arguments, **named).arguments
        found = self._of(name, module, given["query"], given["key"], given.get("attn_mask") is not None)
        self._found.setdefault(name, []).append(found)

    @torch.no_grad()
    def _of(self, name: str, module: Any, query: Tensor, key: Tensor, causal: bool) -> Tensor:
        """Return the largest logit, the sum of entropies and their number of each member, ``(3, S)``, of ``query`` and
        ``key``, ``(time, S·B, channel)``.
        """
        q, k = (
            by_head(project(x).transpose(0, 1), module.num_heads).float()
            for project, x in ((module.q_proj, query), (module.k_proj, key))
        )
        logits = torch.matmul(q * q.size(3) ** -0.5, k.transpose(2, 3)).unflatten(0, (self.watched.members, -1))
        side = name.partition(".")[0]
        of_queries, of_keys = self.kept[side], self.kept["encoder" if name.endswith("encoder_attn") else side]
        seen = of_queries.t().unsqueeze(2) & of_keys.t().unsqueeze(1)
        seen = (seen.tril() if causal else seen).unsqueeze(1)
        logits.masked_fill_(~seen, torch.finfo(logits.dtype).min)  # (S, B, heads, queries, keys)
        weights = logits.log_softmax(dim=4)
        entropies = -weights.exp().mul_(weights).sum(dim=4).double()
        sees = seen.any(dim=3)  # a query that sees no key has no entropy
        total = (entropies * sees).flatten(1).sum(dim=1)
        queries = torch.full_like(total, float(sees.sum()) * module.num_heads)
        return torch.stack([logits.flatten(1).amax(dim=1).double(), total, queries])
