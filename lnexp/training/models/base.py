"""The interface between the engine and what it trains: a plain model or an array of stacked ones."""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

import torch
from omegaconf import DictConfig, OmegaConf
from torch import Tensor

from lnexp.errors import UserError
from lnexp.tasks import table_of
from lnexp.tasks.contract import Member
from lnexp.training.ranks import Ranks
from lnexp.training.trainer import Trainer


@dataclass(frozen=True)
class Abilities:
    """What a kind of models can do. What it cannot do is refused before training.

    Attributes:
        name: what messages call it.
        precisions: the values of the option ``precision`` that it trains in.
        processes: whether several processes can train it together.
        probe_precisions: those among them in which it can be probed along training.
        in_array: whether it knows one value alone of the options that have an ``array_value`` in the option table.
    """

    name: str
    precisions: tuple[str, ...]
    processes: bool
    probe_precisions: tuple[str, ...]
    in_array: bool = False

    def refuse(self, cfg: DictConfig, single: DictConfig, ranks: Ranks) -> None:
        """Raise UserError for what it cannot do.

        Args:
            cfg: the config of one run.
            single: that run's fairseq config.
            ranks: the processes that are to train it.
        """
        if cfg.precision not in self.precisions:
            raise UserError(f"precision={cfg.precision}: {self.name} supports only {' or '.join(self.precisions)}")
        if cfg.probes.every and cfg.precision not in self.probe_precisions:
            why = f"is probed in {' or '.join(self.probe_precisions)}" if self.probe_precisions else "has no probes"
            raise UserError(f"probes.every={cfg.probes.every}: {self.name} {why}; take another launcher or precision")
        _refuse_gradients_of_checkpoints(cfg)
        if ranks.size > 1 and not self.processes:
            raise UserError(f"{ranks.size} processes: {self.name} is trained by one; take another launcher")
        for option, only in table_of(cfg).array_values().items() if self.in_array else ():
            value = OmegaConf.select(single, option)
            if value is not None and value != only:
                raise UserError(f"fairseq.{option}={value}: {self.name} knows {only} alone; take another launcher")


def _refuse_gradients_of_checkpoints(cfg: DictConfig) -> None:
    """Raise UserError for measurements that take gradients of their own where activations are computed again."""
    for option in ("probes.every", "diagnostics.sharpness"):
        value = OmegaConf.select(cfg, option)
        if value and OmegaConf.select(cfg, "model.checkpoint_activations"):
            raise UserError(f"{option}={value}: needs activations as they are; take model.checkpoint_activations=false")


class Losses(NamedTuple):
    """What an epoch measured of one member, as fairseq logs it: losses in bits a token.

    ``grad_norm`` is the mean over the epoch's updates, before clipping.
    """

    valid_loss: float
    valid_nll: float
    train_loss: float
    grad_norm: float


class StopsWithinEpoch(ABC):
    """Models whose training can stop within an epoch, and be resumed from there."""

    @abstractmethod
    def save_within_epoch(self, path: Path, batches: Any) -> None:
        """Save a checkpoint of this moment; ``batches`` is fairseq's iterator over the epoch."""


class Models(ABC):
    """The models of the members that one trainer trains.

    Args:
        trainer: fairseq's.
        members: the runs, by number from 0.
        singles: the fairseq config that each would have as a run of its own.
        ranks: the processes that train them.
    """

    abilities: ClassVar[Abilities]
    #: Whether the members' parameters have an axis of members in front.
    stacked: ClassVar[bool]
    #: The meters in which fairseq logs an update's training loss, in bits, and gradient norm before clipping.
    update_meters: ClassVar[tuple[str, str]]

    def __init__(self, trainer: Trainer, members: Sequence[Member], singles: Sequence[DictConfig], ranks: Ranks):
        self.trainer, self.members, self.singles, self.ranks = trainer, members, singles, ranks

    @property
    def model(self) -> Any:
        """The module that is trained."""
        return self.trainer.get_model()

    @classmethod
    @abstractmethod
    def fairseq_config(cls, singles: Sequence[DictConfig], precision: str) -> DictConfig:
        """Return the fairseq config that trains runs with these configs of their own."""

    @staticmethod
    @abstractmethod
    def schedule_options(fairseq: DictConfig) -> list[DictConfig]:
        """Return the options of every member's learning-rate schedule, to be filled in before they are built."""

    @abstractmethod
    def schedule(self, member: int) -> Any:
        """Return a member's learning-rate schedule."""

    def rates(self) -> Tensor:
        """Return the learning rate of every member's next update, ``(S,)``."""
        return torch.tensor([self.schedule(number).optimizer.get_lr() for number in range(len(self.members))])

    @abstractmethod
    def restore(self) -> Any:
        """Load the newest checkpoints, if there are any, and return fairseq's iterator over the epoch to train next."""

    @abstractmethod
    def losses(self, valid: Any, train: Any) -> list[Losses]:
        """Read every member's losses from fairseq's meters of a validation and of the epoch's training."""

    @property
    def frozen(self) -> Mapping[int, int]:
        """The members that are no longer trained while others are, with the number of updates each had made."""
        return {}

    def freeze(self, member: int) -> None:  # noqa: B027  (a single run has nobody to train on for)
        """Stop training a member while others train on."""

    @property
    def record_fields(self) -> dict[str, Any]:
        """What every epoch record says beside the measurements."""
        return {}

    @contextmanager
    def saving(self) -> Iterator[None]:
        """Open the resources for saving; all checkpoints are complete when the block ends."""
        yield

    @abstractmethod
    def save(self, epoch: int, members: Sequence[int], batches: Any) -> None:
        """Save members after an epoch is recorded, unless fairseq does; ``batches`` is fairseq's iterator over it."""

    def finish_saving(self) -> None:  # noqa: B027  (fairseq does not return before a checkpoint is complete)
        """Wait until checkpoints that are being written are complete, and drop older ones."""

    def save_unfinished(self, epoch: int, batches: Any) -> None:  # noqa: B027  (members of an array are saved by save)
        """Save where training has ended within an epoch, as the checkpoint of that epoch."""

    def loadable_together(self, epochs: Mapping[int, int]) -> Iterator[Mapping[int, int]]:
        """Yield the members in parts whose checkpoints of these epochs can be loaded at the same time."""
        yield epochs

    @abstractmethod
    def load(self, member: int, state: dict[str, Any]) -> None:
        """Load a model's state, as a run of its own has it, into a member."""
