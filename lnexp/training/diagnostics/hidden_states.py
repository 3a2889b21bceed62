"""Measure the size of the hidden states that every layer gives out."""

from functools import partial
from typing import Any

import torch
from torch import Tensor

from lnexp.theory.hidden_states import squared_norm
from lnexp.training.diagnostic import Diagnostic, Watched, register_diagnostic


@register_diagnostic
class HiddenStates(Diagnostic):
    """``hidden_state``, by layer: E‖x‖²/d of its output, the mean over all positions that are no padding.

    The paper's Lemma 2 is about it, before training: of Post-LN it is 1, of Pre-LN it grows with the layer. It is taken
    in the forward pass of training, dropout included.
    """

    def __init__(self, watched: Watched):
        super().__init__(watched)
        sides = [(name, one) for name, one in watched.model.named_children() if hasattr(one, "layers")]
        self._layers = {
            f"{side}.layers.{number}": layer for side, one in sides for number, layer in enumerate(one.layers)
        }
        self._hooks: list[Any] = []
        self._sums: dict[str, Tensor] = {}
        self._kept: dict[Any, Tensor] = {}

    def begin(self) -> None:
        self._detach()
        self._sums = {}
        self._hooks = [
            self.watched.criterion.register_forward_pre_hook(self._see_batch),
            *(layer.register_forward_hook(partial(self._look, name)) for name, layer in self._layers.items()),
        ]

    def end(self) -> dict[str, Tensor]:
        self._detach()
        if not self._sums:
            return {}
        mine = torch.stack([*self._sums.values()]).cpu()  # (layers, 2, S)
        total, positions = torch.stack(self.watched.ranks.gather(mine)).sum(dim=0).unbind(dim=1)
        return {f"hidden_state.{name}": mean for name, mean in zip(self._sums, total / positions, strict=True)}

    def _detach(self) -> None:
        for hook in self._hooks:
            hook.remove()
        self._hooks = []

    def _see_batch(self, criterion: Any, arguments: Any) -> None:
        _, batch = arguments
        self._kept = self.watched.model.kept(**batch["net_input"])

    def _look(self, name: str, layer: Any, arguments: Any, output: Any) -> None:
        """Add a batch's sum of ‖x‖²/d, and its number of positions, ``(2, S)``."""
        if not layer.training:  # placements are shown the first batch, see lnexp.plugin.first_batch
            return
        x = output[0] if isinstance(output, tuple) else output  # (time, S·B, channel)
        kept = self._kept[name.partition(".")[0]].unsqueeze(1)  # (time, 1, B)
        sizes = squared_norm(x).unflatten(1, (self.watched.members, -1)) / x.size(-1)
        total = (sizes * kept).sum(dim=(0, 2))
        found = torch.stack([total, torch.full_like(total, float(kept.sum()))])
        self._sums[name] = self._sums[name] + found if name in self._sums else found
