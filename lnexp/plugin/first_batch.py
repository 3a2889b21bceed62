"""One pass before training, for placements whose parameters start from what they see in it."""

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, distributed, nn

from .placement import Placement, Profile


@torch.no_grad()
def profile_once(model: nn.Module, run: Callable[[], Any], **kept: Tensor) -> bool:
    """Run once without dropout, if there is a placement that asks for it and has not had it.

    What it sets are parameters and buffers, so a checkpoint has them and the pass is not made again.

    Args:
        model: its layers' placements may ask.
        run: takes a batch through it.
        kept: which positions of the batch are no padding, ``encoder=`` and ``decoder=``, each ``(time, batch)``.

    Returns:
        Whether there was one.
    """
    waiting = [module for module in model.modules() if isinstance(module, Placement) and module.asks_for_profile()]
    if not waiting:
        return False
    training, profile = model.training, Profile(kept)
    model.eval()
    for placement in waiting:
        placement.profile = profile
    try:
        run()
    finally:
        for placement in waiting:
            placement.profile = None
        model.train(training)
    return True


class SeesFirstBatch:
    """A model of fairseq's whose placements may see the first batch of a training (a mix-in)."""

    is_profiled = False  # by this process, or not in need of it

    def profile_on(self: Any, src_tokens: Tensor, src_lengths: Tensor, prev_output_tokens: Tensor) -> bool:
        """Let placements that ask for it see a batch, unless they have seen one; whether there were any.

        Args:
            src_tokens: ``(batch, source_time)``.
            src_lengths: ``(batch,)``.
            prev_output_tokens: ``(batch, target_time)``.
        """
        self.is_profiled = True
        found = profile_once(
            self,
            lambda: self(src_tokens, src_lengths, prev_output_tokens),
            encoder=src_tokens.ne(self.encoder.padding_idx).t(),
            decoder=prev_output_tokens.ne(self.decoder.padding_idx).t(),
        )
        if found and distributed.is_initialized():  # each process has seen another batch: the first one's counts
            for tensor in (*self.parameters(), *self.buffers()):
                distributed.broadcast(tensor.data, src=0)
        return found


@torch.no_grad()
def copy_to_master(optimizer: Any) -> None:
    """Have fairseq's half-precision optimizers take the parameters as they are now.

    They work on a copy in single precision, made before the first batch is seen, and write it back at every update.
    """
    master = getattr(optimizer, "fp32_params", None)
    if master is None:
        return
    flat = optimizer.has_flat_params
    now = optimizer.build_fp32_params(None, optimizer.fp16_params, flatten=flat)
    for copy, parameter in zip(*((kept.values() if flat else kept) for kept in (master, now)), strict=True):
        copy.data.copy_(parameter.data)
