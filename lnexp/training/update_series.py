"""Keep the training loss and the gradient norm of every update until they are recorded, an epoch at a time."""

import math
from collections.abc import Collection, Iterator
from typing import Any

import torch
from fairseq import utils
from fairseq.logging import metrics
from torch import Tensor

from lnexp.runs.records import Record
from lnexp.training.models.base import Models
from lnexp.training.ranks import Ranks
from lnexp.training.trainer import Trainer

#: Significant digits of a number in a record.
DIGITS = 5


class UpdateSeries:
    """The updates since the last record, in fairseq's meters: nothing is computed, and no GPU waited for.

    Args:
        trainer: makes the updates.
        models: what it trains.
        ranks: the processes that train together.
    """

    def __init__(self, trainer: Trainer, models: Models, ranks: Ranks):
        self._trainer, self._models, self._ranks = trainer, models, ranks
        self._values: list[tuple[Any, Any]] = []  # of each update: loss in bits, gradient norm; each () or (S,)
        self._before = 0  # how many updates were made before the first of them
        self._logged: list[Any] = []  # what the criterion has said of the batches of an update that is being made
        trainer.before_update.append(self._logged.clear)
        trainer.criterion.register_forward_hook(self._keep_logged)

    def _keep_logged(self, criterion: Any, arguments: Any, output: Any) -> None:
        if criterion.training:
            self._logged.append(output[2])

    def add(self) -> None:
        """Add the update that was just made."""
        meters = metrics.get_meters("train")  # of the epoch; each knows its last value, too
        loss, norm = (meters[name].val for name in self._models.update_meters)
        self._append(loss, norm, self._trainer.get_num_updates() - 1)

    def add_failed(self) -> None:
        """Add the update that could not be made, if there is one: its gradient is not finite, its loss may be."""
        logged = [one for of_rank in self._ranks.gather(utils.move_to_cpu(self._logged)) for one in of_rank]
        if not logged:
            return
        with metrics.aggregate(new_root=True) as meters:
            self._trainer.task.reduce_metrics(logged, self._trainer.get_criterion())
        self._append(meters[self._models.update_meters[0]].val, math.nan, self._trainer.get_num_updates())

    def _append(self, loss: Any, norm: Any, before: int) -> None:
        if not self._values:
            self._before = before
        self._values.append((loss, norm))
        self._logged.clear()

    def records(self, epoch: int, members: Collection[int]) -> Iterator[tuple[int, Record]]:
        """Yield the ``updates`` record of each of some members, and forget the updates.

        Args:
            epoch: that the updates are of.
            members: those that were trained at the first of the updates. One that was frozen since has its updates up
                to the one that could not be made.
        """
        if not self._values:
            return
        losses, norms = (self._of_members(values) for values in zip(*self._values, strict=True))
        self._values = []
        for member in members:
            made = self._models.frozen.get(member)
            count = len(losses) if made is None else min(len(losses), made + 1 - self._before)
            if count > 0:
                yield (
                    member,
                    {
                        "kind": "updates",
                        "epoch": epoch,
                        "update": self._before + count,
                        "train_loss": _rounded(losses[:count, member] * math.log(2)),
                        "grad_norm": _rounded(norms[:count, member]),
                    },
                )

    def _of_members(self, values: Any) -> Tensor:
        """Return the values of updates, each of all members or one for all of them, as ``(updates, S)``."""
        members, device = len(self._models.members), self._trainer.device
        rows = [torch.as_tensor(value, dtype=torch.float64, device=device).expand(members) for value in values]
        return torch.stack(rows).cpu()


def _rounded(values: Tensor) -> list[float]:
    return [float(f"{value:.{DIGITS}g}") for value in values.tolist()]
