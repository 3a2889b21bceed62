"""The base class of our schedules: ``lr(t) = lr_max · min(t / W, 1) · decay(t)``."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field

from fairseq.dataclass import FairseqDataclass
from fairseq.optim.lr_scheduler import FairseqLRScheduler
from omegaconf import II, DictConfig


@dataclass
class WarmupConfig(FairseqDataclass):
    """Options that every schedule has."""

    warmup_updates: int = field(default=4000, metadata={"help": "updates T_warmup of linear warm-up; 1 means none"})
    lr: list[float] = II("optimization.lr")


def set_end(options: DictConfig, last: Callable[[], int]) -> None:
    """Set the update at which a schedule ends, ``total_updates``, where its options have that without a value."""
    if options.get("total_updates", 0) is None:
        options.total_updates = last()


class WarmupSchedule(FairseqLRScheduler, ABC):
    """Linear warm-up times a decay that the subclass defines.

    ``t`` counts updates from 1, as in the paper (section 3.1: ``lr(t) = t / T_warmup · lr_max``), so with ``W = 1`` the
    very first update has the full rate. fairseq's own schedulers count from 0 and spend their first update at rate 0.

    Raises:
        ValueError: for ``warmup_updates`` below 1, which would divide by zero.
    """

    def __init__(self, cfg: WarmupConfig, optimizer):
        super().__init__(cfg, optimizer)
        if cfg.warmup_updates < 1:
            raise ValueError(f"warmup_updates={cfg.warmup_updates}: must be at least 1, and 1 means no warm-up")
        self.warmup_updates = cfg.warmup_updates
        self.lr_max = cfg.lr[0]

    @abstractmethod
    def decay(self, update: int) -> float:
        """Return the factor on ``lr_max`` at update ``update`` (from 1), the warm-up aside."""

    def lr_at(self, update: int) -> float:
        """Return the learning rate that update number ``update`` (from 1) is made with."""
        return self.lr_max * min(update / self.warmup_updates, 1.0) * self.decay(update)

    def step_update(self, num_updates: int) -> float:
        """Set and return the rate for the update that follows ``num_updates`` finished ones."""
        self.optimizer.set_lr(self.lr_at(num_updates + 1))
        return self.optimizer.get_lr()
