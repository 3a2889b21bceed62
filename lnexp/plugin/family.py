"""Families of models (encoder-decoder, encoder-only, …): the interface that arrays and tasks use."""

from abc import ABC, abstractmethod
from typing import Any, ClassVar, Self

from fairseq.models import BaseFairseqModel
from fairseq.models.transformer import TransformerConfig
from torch import Tensor

from .first_batch import SeesFirstBatch
from .placement import Side
from .updates import changes_with_updates


class Family(SeesFirstBatch, BaseFairseqModel, ABC):
    """A model built of our layers. A fairseq task names its family in its attribute ``family``.

    The registered models ``lnexp_<placement>`` build whatever family the task names, so a new kind of model needs no
    change where placements, arrays or optimizers are defined. A family calls :meth:`see_first_batch_in_training` at
    the beginning of its ``forward``.
    """

    #: The stacks of layers that the model has; every layer of them gets a placement.
    sides: ClassVar[tuple[Side, ...]]

    @classmethod
    @abstractmethod
    def build(cls, cfg: TransformerConfig, task: Any) -> Self:
        """Build the model for a task, not yet initialised.

        Args:
            cfg: fairseq's options with ours beside them; ``cfg.placements`` has the layers' placements by side.
            task: has the dictionaries.
        """

    @abstractmethod
    def features(self, *arguments: Any, **net_input: Any) -> Tensor:
        """Return the hidden states before the output projection, ``(batch, time, channel)``.

        Args:
            arguments, net_input: the batch's ``net_input``: what fairseq calls the model with.
        """

    @property
    @abstractmethod
    def output_weight(self) -> Tensor:
        """The output projection, ``(words, channel)``; in an array ``(S, words, channel)``."""

    @property
    def changes_with_updates(self) -> bool:
        """Whether a placement depends on the number of updates, see :mod:`.updates`."""
        return changes_with_updates(self)

    def train(self, mode: bool = True) -> Self:
        """Set the mode, unless all modules have it: fairseq asks for it twice an update, and setting it takes long."""
        return super().train(mode) if any(module.training != mode for module in self.modules()) else self

    def set_num_updates(self, num_updates: int) -> None:
        """Tell the modules that want to know the number of updates made.

        fairseq asks every module for the method, and torch takes long to find that a module has no such attribute.
        """
        for module in self.modules():
            if module is not self and hasattr(type(module), "set_num_updates"):
                module.set_num_updates(num_updates)

    @abstractmethod
    def kept(self, *arguments: Any, **net_input: Any) -> dict[Side, Tensor]:
        """Return which positions of a batch are no padding, by side, each ``(time, batch)``."""
