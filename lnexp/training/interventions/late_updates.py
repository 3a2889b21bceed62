"""Hold back the updates of some layers, or of all parameters, at the beginning of training."""

from dataclasses import dataclass

import torch
from torch import Tensor

from lnexp.training.intervention import ScalesChanges, Weight, register_intervention

PARTS = ("all", "last", "first")
FORMS = ("frozen", "warmup")


@dataclass
class LateUpdatesOptions:
    """Options of :class:`LateUpdates`.

    Attributes:
        part: whose updates are held back: ``all`` parameters, or those of the ``last`` or the ``first`` layers of every
            stack.
        layers: how many layers of a stack these are; without effect on ``all``.
        updates: T, until when.
        form: ``frozen``, no update before T is over; ``warmup``, the share t/T of update t, as a rate that warms up.

    Raises:
        ValueError: for values that there are none of.
    """

    part: str
    layers: int
    updates: int
    form: str

    def __post_init__(self) -> None:
        if self.part not in PARTS:
            raise ValueError(f"part={self.part}: must be one of {', '.join(PARTS)}")
        if self.form not in FORMS:
            raise ValueError(f"form={self.form}: must be one of {', '.join(FORMS)}")
        for name in ("layers", "updates"):
            if not isinstance(getattr(self, name), int) or getattr(self, name) < 1:
                raise ValueError(f"{name}={getattr(self, name)}: must be a whole number of at least 1")


@register_intervention("late_updates", LateUpdatesOptions)
class LateUpdates(ScalesChanges):
    """The change of a weight in update t is multiplied by 0, or by t/T, until update T.

    Of the last layers: tests whether what fails without warm-up are the layers near the output, whose gradients are
    large at initialisation in Post-LN (Xiong et al. 2020, section 3.4 and Theorem 1); the first layers are the control.
    Frozen, of all parameters: Adam's moments come of T batches before it takes its first step, as in Adam-2k of Liu
    et al. 2019, "On the Variance of the Adaptive Learning Rate and Beyond", section 3.1, which tests whether the
    variance of the second moment is to blame. (Adam-2k gathers the second moment alone; here the first one, too, is
    that of T gradients at the same weights.)
    """

    options: LateUpdatesOptions

    def scales(self, weight: Weight, update: int) -> bool:
        """Return whether a weight belongs to the part, while its updates are held back."""
        return update <= self.options.updates and self._is_in_part(weight)

    def _is_in_part(self, weight: Weight) -> bool:
        if self.options.part == "all":
            return True
        if not weight.layer:
            return False
        if self.options.part == "first":
            return weight.layer <= self.options.layers
        return weight.layer > weight.layers - self.options.layers

    def share(self, weight: Weight, update: int, change: Tensor) -> Tensor:
        """Return 0, or t/T."""
        is_frozen = self.options.form == "frozen"
        return torch.tensor(0.0 if is_frozen else update / self.options.updates, device=change.device)
