"""Measure log Z of the output softmax, which drifts where the scale of the logits is not held."""

from collections.abc import Iterator
from typing import Any

import torch
from torch import Tensor
from torch.utils.hooks import RemovableHandle

from lnexp.training.diagnostic import Watched, register_diagnostic
from lnexp.training.forward_diagnostic import ForwardDiagnostic, in_training


@register_diagnostic
class LogNormaliser(ForwardDiagnostic):
    """``log_z.output`` and ``log_z_squared.output``: the means of log Z and of its square over target tokens, in nats.

    Z is the sum of ``exp(logit)`` over all words, in the forward pass of training. The square is what the auxiliary
    z-loss holds down (Chowdhery et al. 2022, arXiv 2204.02311, section 5; Wortsman et al. 2023, section 3.1.2).
    """

    def __init__(self, watched: Watched):
        super().__init__(watched)
        self._sums: Tensor | None = None

    def hooks(self) -> Iterator[RemovableHandle]:
        self._sums = None
        yield self.watched.model.register_forward_hook(in_training(self._look))

    def found(self) -> dict[str, Tensor]:
        if self._sums is None:
            return {}
        tokens, total, squares = torch.stack(self.watched.ranks.gather(self._sums.cpu())).sum(dim=0)
        return {"log_z.output": total / tokens, "log_z_squared.output": squares / tokens}

    @torch.no_grad()
    def _look(self, model: Any, arguments: Any, output: Any) -> None:
        """Add a batch's tokens, sum of log Z and sum of its squares, ``(3, S)``."""
        found = [z.double() for z in self._log_z_by_member(output)]
        sums = torch.stack([torch.stack([torch.ones_like(z).sum(), z.sum(), z.square().sum()]) for z in found], dim=1)
        self._sums = sums if self._sums is None else self._sums + sums

    def _log_z_by_member(self, output: Any) -> Iterator[Tensor]:
        """Yield log Z of each member at the positions that are asked for, ``(tokens,)``.

        An array gives hidden states, so that the logits of one member at a time are in memory.
        """
        if not self.watched.stacked:
            yield self._asked(output[0].float().logsumexp(dim=-1))
            return
        for hidden, weight in zip(output, self.watched.model.output_weight, strict=True):
            logits = self._asked(hidden) @ weight.to(hidden.dtype).t()
            yield logits.float().logsumexp(dim=-1)

    def _asked(self, x: Tensor) -> Tensor:
        """Return the entries at target positions; all, where the model gave only those."""
        target = self.batch["target"]
        if x.shape[: target.dim()] == target.shape:
            return x[target.ne(self.watched.criterion.padding_idx)]
        return x
