"""The learning-rate schedules of an array's members behind one interface: the schedule ``lnexp_array``."""

from dataclasses import dataclass, field
from typing import Any

from fairseq.dataclass import FairseqDataclass
from fairseq.optim.lr_scheduler import FairseqLRScheduler, build_lr_scheduler, register_lr_scheduler
from omegaconf import OmegaConf

from .optimizer import ArrayOptimizer


@dataclass
class ArrayScheduleConfig(FairseqDataclass):
    """A schedule for each member."""

    members: list[dict[str, Any]] = field(default_factory=list, metadata={"help": "options of each one's schedule"})


@register_lr_scheduler("lnexp_array", dataclass=ArrayScheduleConfig)
class ArraySchedule(FairseqLRScheduler):
    """Each member's optimizer follows a schedule of its own.

    Attributes:
        members: the members' schedules.
    """

    def __init__(self, cfg: ArrayScheduleConfig, optimizer: ArrayOptimizer):
        super().__init__(cfg, optimizer)
        self.members = [
            build_lr_scheduler(OmegaConf.create(dict(options)), member)
            for options, member in zip(cfg.members, optimizer.members, strict=True)
        ]

    def step_begin_epoch(self, epoch: int) -> None:
        """Tell every member's schedule which epoch begins."""
        for member in self.members:
            member.step_begin_epoch(epoch)

    def step(self, epoch: int, val_loss: float | None = None) -> None:
        """Tell every member's schedule which epoch has ended."""
        for member in self.members:
            member.step(epoch, val_loss)

    def step_update(self, num_updates: int) -> float:
        """Set every member's rate for the update that follows ``num_updates`` finished ones; return the highest."""
        self.optimizer.updates = num_updates
        return max(member.step_update(num_updates) for member in self.members)
