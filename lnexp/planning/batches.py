"""Make the batches of an epoch as fairseq makes them."""

from typing import Any

import numpy as np
from omegaconf import DictConfig

from lnexp.errors import UserError


def batches_of_epoch(cfg: DictConfig, data: Any, batch_size: int | None) -> list[Any]:
    """Return the batches of an epoch in the order of their lengths, as arrays of the numbers of their examples.

    Args:
        cfg: the config, for ``max_tokens``.
        data: fairseq's dataset.
        batch_size: the most examples of a batch; None: as many as ``max_tokens`` allows.

    Raises:
        UserError: where an example has more tokens than a batch may have.
    """
    longest = int(np.max(data.sizes))
    if longest > cfg.max_tokens:
        raise UserError(f"max_tokens={cfg.max_tokens}: {cfg.data.name} has an example of {longest} tokens")
    order = data.ordered_indices()
    batches: list[Any] = data.batch_by_size(order, max_tokens=cfg.max_tokens, max_sentences=batch_size)
    return batches
