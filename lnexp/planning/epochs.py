"""Count the updates and epochs of a run from its config."""

import math
from typing import NamedTuple

from omegaconf import DictConfig, OmegaConf

from lnexp.planning.work import Work
from lnexp.tasks import task_of


class Extent(NamedTuple):
    """How long a run is.

    Attributes:
        updates_an_epoch, updates: how many it makes.
        epochs: how many it begins; it may end within the last one.
    """

    updates_an_epoch: int
    updates: int
    epochs: int


def extent(cfg: DictConfig, work: Work) -> Extent:
    """Return how long a run is, given an epoch of it."""
    if OmegaConf.select(cfg, "fairseq.optimization.skip_remainder_batch"):  # as in lnexp/training/loop.py
        updates_an_epoch = max((work.batches - 1) // cfg.update_freq, 1)
    else:
        updates_an_epoch = math.ceil(work.batches / cfg.update_freq)
    most = updates_an_epoch * cfg.max_epoch
    updates = min(most, cfg.max_update or most)
    return Extent(updates_an_epoch, updates, math.ceil(updates / updates_an_epoch))


def last_epoch(cfg: DictConfig) -> int:
    """Return the number of a run's last epoch; where updates are a limit, its batches are counted.

    Raises:
        UserError: for a corpus that has to be counted and is not prepared.
    """
    return extent(cfg, task_of(cfg).work(cfg)).epochs if cfg.max_update else int(cfg.max_epoch)
