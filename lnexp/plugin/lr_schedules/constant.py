"""Constant rate after warm-up."""

from dataclasses import dataclass

from fairseq.optim.lr_scheduler import register_lr_scheduler

from ..warmup_schedule import WarmupConfig, WarmupSchedule


@dataclass
class ConstantConfig(WarmupConfig):
    """The options of :class:`WarmupConfig`."""


@register_lr_scheduler("lnexp_constant", dataclass=ConstantConfig)
class Constant(WarmupSchedule):
    """``lr(t) = lr_max · min(t / W, 1)``."""

    def decay(self, update: int) -> float:
        """Return the factor on ``lr_max`` at an update (from 1), the warm-up aside."""
        return 1.0
