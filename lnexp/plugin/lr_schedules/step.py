"""Constant rate with one drop at an epoch."""

from dataclasses import dataclass, field

from fairseq.dataclass import ChoiceEnum
from fairseq.optim.lr_scheduler import register_lr_scheduler

from ..warmup_schedule import WarmupConfig, WarmupSchedule


@dataclass
class StepConfig(WarmupConfig):
    """Options of :class:`Step`; the defaults are the paper's for IWSLT14 (section 4)."""

    decay_epoch: int = field(default=8, metadata={"help": "first epoch (from 1) with the smaller rate"})
    factor: float = field(default=0.1, metadata={"help": "what the rate is multiplied by, once"})
    then: ChoiceEnum(["constant", "inverse_sqrt"]) = field(  # type: ignore[valid-type]  # fairseq's way to list choices
        default="constant", metadata={"help": "after the drop"}
    )


@register_lr_scheduler("lnexp_step", dataclass=StepConfig)
class Step(WarmupSchedule):
    """``lr_max`` until epoch ``decay_epoch``, from whose first update ``t₀`` on ``factor · lr_max``, times
    ``√(t₀ / t)`` where ``then`` is ``inverse_sqrt`` (the paper's WMT14 setting).

    The drop happens once. (fairseq's ``fixed`` with ``force_anneal`` shrinks again at every later epoch.)
    """

    def __init__(self, cfg: StepConfig, optimizer):
        super().__init__(cfg, optimizer)
        self.epoch = 1
        self.first_decayed_update: int | None = None

    def step_begin_epoch(self, epoch: int) -> None:
        """Note the epoch (from 1) that begins."""
        self.epoch = epoch

    def step_update(self, num_updates: int) -> float:
        """Set and return the rate for the update that follows ``num_updates`` finished ones."""
        if self.first_decayed_update is None and self.epoch >= self.cfg.decay_epoch:
            self.first_decayed_update = num_updates + 1
        return super().step_update(num_updates)

    def decay(self, update: int) -> float:
        """Return the factor on ``lr_max`` at an update (from 1), the warm-up aside."""
        start = self.first_decayed_update
        if start is None or update < start:
            return 1.0
        after = (start / update) ** 0.5 if str(self.cfg.then) == "inverse_sqrt" else 1.0
        return self.cfg.factor * after

    def state_dict(self) -> dict:
        """Return the state for a checkpoint, with the first update of the smaller rate."""
        return super().state_dict() | {"first_decayed_update": self.first_decayed_update}

    def load_state_dict(self, state_dict: dict) -> None:
        """Set the state to one that :meth:`state_dict` has returned."""
        super().load_state_dict(state_dict)
        self.first_decayed_update = state_dict["first_decayed_update"]
