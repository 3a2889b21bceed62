"""Measure the size of the hidden states that every layer gives out, and how alike those of different positions are."""

from collections.abc import Iterator
from functools import partial
from typing import Any

import torch
from torch import Tensor
from torch.utils.hooks import RemovableHandle

from lnexp.training.diagnostic import Watched, register_diagnostic, states_of
from lnexp.training.forward_diagnostic import ForwardDiagnostic, in_training


@register_diagnostic
class HiddenStates(ForwardDiagnostic):
    """``hidden_state``, by layer: E‖x‖²/d of its output, the mean over all positions that are no padding, where d is
    the model's width, also of ResiDual, whose layers give out two streams; and
    ``hidden_cosine``: the mean cosine of two positions of the update, a position with itself included,
    ``‖E[x/‖x‖]‖²``, which is 1 where all are alike.

    The paper's Lemma 2 is about the size, before training: of Post-LN it is 1, of Pre-LN it grows with the layer. Where
    the cosine is 1 attention cannot tell positions apart, and its gradients vanish (rank collapse; Noci et al. 2022,
    arXiv 2206.03126, section 3). Both are taken in the forward pass of training, dropout included.
    """

    def __init__(self, watched: Watched):
        super().__init__(watched)
        self._layers = watched.layers()
        self._sums: dict[str, Tensor] = {}

    def hooks(self) -> Iterator[RemovableHandle]:
        self._sums = {}
        for name, layer in self._layers.items():
            yield layer.register_forward_hook(in_training(partial(self._look, name)))

    def found(self) -> dict[str, Tensor]:
        of_ranks = self.watched.ranks.gather({name: sums.cpu() for name, sums in self._sums.items()})
        found = {}
        for name in self._sums:
            sums = torch.stack([one[name] for one in of_ranks]).sum(dim=0)
            means = sums[1:] / sums[0]  # over positions
            found[f"hidden_state.{name}"] = means[0]
            found[f"hidden_cosine.{name}"] = means[1:].square().sum(dim=0)
        return found

    def _look(self, name: str, layer: Any, arguments: Any, output: Any) -> None:
        """Add a batch's number of positions, and its sums of ‖x‖²/d and of x/‖x‖, ``(2 + channels, S)``."""
        x = states_of(output).detach().float().unflatten(1, (self.watched.members, -1))
        kept = self.kept[name.partition(".")[0]].unsqueeze(1)  # (time, 1, B)
        squares = x.square().sum(dim=3)
        inverse = kept / squares.sqrt().clamp(min=torch.finfo(x.dtype).tiny)  # of padding the length may be 0
        units = torch.einsum("tsb,tsbc->cs", inverse, x).double()
        sizes = (squares.double() * kept).sum(dim=(0, 2)).unsqueeze(0) / layer.embed_dim
        found = torch.cat([torch.full_like(sizes, float(kept.sum())), sizes, units])
        self._sums[name] = self._sums[name] + found if name in self._sums else found
