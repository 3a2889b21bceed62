"""Linear decay to zero."""

from dataclasses import dataclass, field
from typing import Optional

from fairseq.optim.lr_scheduler import register_lr_scheduler

from ..warmup_schedule import WarmupConfig, WarmupSchedule


@dataclass
class LinearConfig(WarmupConfig):
    """Options of :class:`Linear`."""

    total_updates: Optional[int] = field(  # noqa: UP045  (fairseq reads the annotation, and knows this form alone)
        default=None, metadata={"help": "update T at which the rate reaches zero"}
    )


@register_lr_scheduler("lnexp_linear", dataclass=LinearConfig)
class Linear(WarmupSchedule):
    """``lr(t) = lr_max · min(t / W, 1) · min(1, (T - t) / (T - W))``, zero from ``T`` on.

    The paper trains its RAdam runs with linear decay (section 4).

    Raises:
        ValueError: where ``total_updates`` leaves nothing after the warm-up.
    """

    def __init__(self, cfg: LinearConfig, optimizer):
        super().__init__(cfg, optimizer)
        if cfg.total_updates is None or cfg.total_updates <= self.warmup_updates:
            raise ValueError(
                f"total_updates={cfg.total_updates}: must be more than warmup_updates={self.warmup_updates}"
            )
        self.total_updates = cfg.total_updates

    def decay(self, update: int) -> float:
        """Return the factor on ``lr_max`` at an update (from 1), the warm-up aside."""
        left = (self.total_updates - update) / (self.total_updates - self.warmup_updates)
        return min(1.0, max(0.0, left))
