"""One pass before training, for placements whose parameters start from what they see in it."""

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn

from .placement import Placement, Profile


@torch.no_grad()
def profile_once(model: nn.Module, run: Callable[[], Any], **kept: Tensor) -> None:
    """Run once without dropout, if there is a placement that asks for it and has not had it.

    What it sets are parameters and buffers, so a checkpoint has them and the pass is not made again.

    Args:
        model: its layers' placements may ask.
        run: takes a batch through it.
        kept: which positions of the batch are no padding, ``encoder=`` and ``decoder=``, each ``(time, batch)``.
    """
    waiting = [module for module in model.modules() if isinstance(module, Placement) and module.asks_for_profile()]
    if not waiting:
        return
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
