"""Decay with the inverse square root of the update number, in the two readings of "no warm-up"."""

from dataclasses import dataclass, field

from fairseq.dataclass import ChoiceEnum
from fairseq.optim.lr_scheduler import register_lr_scheduler

from ..warmup_schedule import WarmupConfig, WarmupSchedule


@dataclass
class InverseSqrtConfig(WarmupConfig):
    """Options of :class:`InverseSqrt`."""

    form: ChoiceEnum(["coupled", "decoupled"]) = field(  # type: ignore[valid-type]  # fairseq's way to list choices
        default="decoupled", metadata={"help": "coupled: decay from the end of warm-up; decoupled: from decay_from"}
    )
    decay_from: int = field(default=4000, metadata={"help": "update D at which the decoupled form begins to decay"})


@register_lr_scheduler("lnexp_inverse_sqrt", dataclass=InverseSqrtConfig)
class InverseSqrt(WarmupSchedule):
    """``lr(t) = lr_max · min(t / W, 1) · √(D / max(t, D))``.

    - ``decoupled``: ``D`` is its own setting, so arms with and without warm-up share their decay and differ in the
      warm-up alone.
    - ``coupled``: ``D = W``, which is fairseq's ``inverse_sqrt`` and the schedule of Vaswani et al. 2017. With
      ``W = 1`` it is ``lr_max / √t``: a run "without warm-up" then also has a much smaller rate from the second
      update on.

    Raises:
        ValueError: for ``decay_from`` below 1.
    """

    def __init__(self, cfg: InverseSqrtConfig, optimizer):
        super().__init__(cfg, optimizer)
        self.decay_from = self.warmup_updates if str(cfg.form) == "coupled" else cfg.decay_from
        if self.decay_from < 1:
            raise ValueError(f"decay_from={self.decay_from}: must be at least 1")

    def decay(self, update: int) -> float:
        """Return the factor on ``lr_max`` at an update (from 1), the warm-up aside."""
        return (self.decay_from / max(update, self.decay_from)) ** 0.5
