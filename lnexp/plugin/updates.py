"""Placements that change during training: they know how many updates were made."""

from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from .placement import Placement, Where, option


class KnowsUpdates(nn.Module):
    """A module that knows the number of updates (a base class, to stand before others).

    fairseq sets the number before each training step. It is a buffer, so checkpoints have it, and validation,
    translation and resumed runs know it.

    Attributes:
        updates: how many updates were made, an int64 tensor without dimensions.
    """

    updates: Tensor

    def __init__(self, *arguments: Any):
        super().__init__(*arguments)
        self.register_buffer("updates", torch.tensor(0))

    def set_num_updates(self, num_updates: int) -> None:
        """Take the number of updates made; fairseq calls it on every module that has it."""
        self.updates.fill_(num_updates)

    def share_of(self, updates: int) -> Tensor:
        """Return the share of so many updates that were made, at most 1, a tensor without dimensions."""
        return (self.updates / updates).clamp(max=1)


class ChangesWithUpdates(KnowsUpdates, Placement):
    """A placement that depends on the number of updates."""


@dataclass
class UntilOptions:
    """The option of a placement that changes until so many updates.

    Raises:
        ValueError: for a T below 1.
    """

    updates: int = option(1000, "updates T until the change is over")

    def __post_init__(self) -> None:
        if self.updates < 1:
            raise ValueError(f"updates={self.updates}: must be at least 1")


class ChangesUntil(ChangesWithUpdates):
    """A placement that changes until so many updates.

    Attributes:
        until: T, the option ``updates``.
    """

    def __init__(self, where: Where, options: UntilOptions):
        super().__init__(where, options)
        self.until = options.updates


def changes_with_updates(model: nn.Module) -> bool:
    """Return whether a model depends on the number of updates, weights aside.

    The members of an array share it: those that were trained for different numbers of updates are to be tested one
    after another.
    """
    return any(isinstance(module, KnowsUpdates) for module in model.modules())
