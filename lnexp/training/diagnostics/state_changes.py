"""Measure by how much an update changes the hidden states that every layer gives out."""

from functools import partial
from typing import Any

import torch
from torch import Tensor

from lnexp.training.diagnostic import Diagnostic, Watched, register_diagnostic, states_of
from lnexp.training.evaluating import evaluating


@register_diagnostic
class StateChanges(Diagnostic):
    """``state_change``, by layer: E‖x' − x‖² / E‖x‖² of its outputs x before and x' after the update.

    E is the mean over all positions that are no padding of the first minibatch of the training, the same at every
    snapshot, without dropout; the first update is of this very batch. Of Pre-LN x is the stream, before the final
    LayerNorm, and of ResiDual both of its streams. In half precision small changes are rounding.
    Liu et al. 2020, "Understanding the Difficulty of Training Transformers" (section 4), hold that Post-LN amplifies
    what an update changes; :mod:`lnexp.theory.amplification` measures the same for changes of a size that is given, and
    in units of that size.

    It is there with the option ``diagnostics.state_changes``, and takes two forward passes. Of a placement that depends
    on the number of updates, such as ProRes, its own change from one to the next is in it.
    """

    def __init__(self, watched: Watched):
        super().__init__(watched)
        self._before: dict[str, Tensor] = {}

    def begin(self) -> None:
        self._before = self._states() if self.watched.state_changes else {}

    def end(self) -> dict[str, Tensor]:
        before, self._before = self._before, {}
        if not before:
            return {}
        return {f"state_change.{name}": _change(before[name], after) for name, after in self._states().items()}

    @torch.no_grad()
    def _states(self) -> dict[str, Tensor]:
        """Return what each layer gives out at positions without padding, ``(S, positions, channels)``."""
        model, net_input = self.watched.model, self.watched.fixed_batch()["net_input"]
        kept = model.kept(**net_input)
        found: dict[str, Tensor] = {}

        def look(name: str, layer: Any, arguments: Any, output: Any) -> None:
            of_members = states_of(output).float().unflatten(1, (self.watched.members, -1)).movedim(1, 0)
            found[name] = of_members[:, kept[name.partition(".")[0]]]

        hooks = [layer.register_forward_hook(partial(look, name)) for name, layer in self.watched.layers().items()]
        try:
            with evaluating(model):
                model(**net_input)
        finally:
            for hook in hooks:
                hook.remove()
        return found


def _change(before: Tensor, after: Tensor) -> Tensor:
    """Return ‖x' − x‖² / ‖x‖² of each member, ``(S,)``."""
    size, change = (x.double().square().sum(dim=(1, 2)) for x in (before, after - before))
    return change / size
