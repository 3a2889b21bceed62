"""Show placements the first batch before the first update: some set their parameters from what they see in it."""

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, distributed, nn

from .placement import FirstBatch, Placement, Side


@torch.no_grad()
def show_first_batch(model: nn.Module, run: Callable[[], Any], kept: dict[Side, Tensor]) -> bool:
    """Run a batch through the model once, without dropout, if a placement wants it and has not had it.

    What placements set are parameters and buffers, so a checkpoint has them and the pass is not made again.

    Args:
        model: its layers' placements may want the batch.
        run: takes the batch through the model.
        kept: which positions of the batch are no padding, by side, each ``(time, batch)``.

    Returns:
        Whether a placement wanted it.
    """
    waiting = [module for module in model.modules() if isinstance(module, Placement) and module.wants_first_batch()]
    if not waiting:
        return False
    training, first_batch = model.training, FirstBatch(kept)
    model.eval()
    for placement in waiting:
        placement.first_batch = first_batch
    try:
        run()
    finally:
        for placement in waiting:
            placement.first_batch = None
        model.train(training)
    return True


class SeesFirstBatch:
    """A model whose placements may see the first batch of a training (a mix-in).

    The model defines ``kept(**net_input)``, which returns the positions that are no padding, see
    :meth:`.family.Family.kept`.
    """

    has_seen_first_batch = False  # in this process, or not in need of it

    def see_first_batch(self: Any, **net_input: Any) -> bool:
        """Show a batch to the placements that want one, unless they have seen one; return whether any did.

        Args:
            net_input: the batch's ``net_input``: what fairseq calls the model with.
        """
        self.has_seen_first_batch = True
        found = show_first_batch(self, lambda: self(**net_input), self.kept(**net_input))
        if found and distributed.is_initialized():  # each process has seen another batch: the first one's counts
            for tensor in (*self.parameters(), *self.buffers()):
                distributed.broadcast(tensor.data, src=0)
        return found

    def see_first_batch_in_training(self: Any, **net_input: Any) -> None:
        """See the first batch in a forward pass of training, where the task has not shown it before.

        Raises:
            RuntimeError: in half precision, where the optimizer has copied the parameters already.
        """
        if not self.training or self.has_seen_first_batch:
            return
        if self.see_first_batch(**net_input) and next(self.parameters()).dtype in (torch.float16, torch.bfloat16):
            name = next(type(module).__name__ for module in self.modules() if isinstance(module, Placement))
            raise RuntimeError(f"{name} trains in half precision with a task of lnexp's alone")
