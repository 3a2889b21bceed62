"""Measure the largest attention logit: where it grows without bound, attention saturates and training fails."""

from functools import partial
from inspect import signature
from typing import Any

import torch
from torch import Tensor

from lnexp.plugin.arrays.stacked import StackedAttention
from lnexp.plugin.attention import Attention, by_head
from lnexp.training.diagnostic import Diagnostic, Watched, register_diagnostic


@register_diagnostic
class AttentionLogits(Diagnostic):
    """``attention_logit``, by attention module: the largest ``q·k/√d`` over batch, heads and positions.

    As in Wortsman et al. 2023 (arXiv 2309.14322), section 3.1.1, it is taken in the forward pass of training, dropout
    included. Padding, as a query or a key, and the future that a decoder does not see do not count.
    """

    def __init__(self, watched: Watched):
        super().__init__(watched)
        modules = watched.model.named_modules()
        self._modules = {name: one for name, one in modules if isinstance(one, Attention | StackedAttention)}
        self._hooks: list[Any] = []
        self._largest: dict[str, Tensor] = {}
        self._kept: dict[Any, Tensor] = {}

    def begin(self) -> None:
        self._detach()
        self._largest.clear()
        self._hooks = [
            self.watched.criterion.register_forward_pre_hook(self._see_batch),
            *(
                module.register_forward_pre_hook(partial(self._look, name), with_kwargs=True)
                for name, module in self._modules.items()
            ),
        ]

    def end(self) -> dict[str, Tensor]:
        self._detach()
        if not self._largest:
            return {}
        mine = torch.stack([*self._largest.values()]).cpu()
        every = torch.stack(self.watched.ranks.gather(mine)).amax(dim=0)
        return {f"attention_logit.{name}": largest for name, largest in zip(self._largest, every, strict=True)}

    def _detach(self) -> None:
        for hook in self._hooks:
            hook.remove()
        self._hooks = []

    def _see_batch(self, criterion: Any, arguments: Any) -> None:
        _, batch = arguments
        self._kept = self.watched.model.kept(**batch["net_input"])

    def _look(self, name: str, module: Any, arguments: Any, named: Any) -> None:
        if not module.training:  # placements are shown the first batch, see lnexp.plugin.first_batch
            return
        given = signature(module.forward).bind(*arguments, **named).arguments
        found = self._of(name, module, given["query"], given["key"], given.get("attn_mask") is not None)
        self._largest[name] = torch.maximum(found, self._largest[name]) if name in self._largest else found

    @torch.no_grad()
    def _of(self, name: str, module: Any, query: Tensor, key: Tensor, causal: bool) -> Tensor:
        """Return the largest logit of each member, ``(S,)``, of ``query`` and ``key``, ``(time, S·B, channel)``."""
        q, k = (
            by_head(project(x).transpose(0, 1), module.num_heads).float()
            for project, x in ((module.q_proj, query), (module.k_proj, key))
        )
        logits = torch.matmul(q, k.transpose(2, 3)) * q.size(3) ** -0.5
        side = name.partition(".")[0]
        of_queries, of_keys = self._kept[side], self._kept["encoder" if name.endswith("encoder_attn") else side]
        seen = of_queries.t().unsqueeze(2) & of_keys.t().unsqueeze(1)
        seen = seen.tril() if causal else seen
        by_member = logits.unflatten(0, (self.watched.members, -1))
        return by_member.masked_fill(~seen.unsqueeze(1), -torch.inf).flatten(1).amax(dim=1)
