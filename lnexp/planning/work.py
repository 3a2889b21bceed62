"""Define a unit of work: what a task states of an epoch and of its largest batch, so that runs can be planned."""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any

from torch import nn


@dataclass(frozen=True)
class LargestBatch(ABC):
    """The batch of a run that takes the most memory.

    Attributes:
        examples: how many the batch has; what is measured is a part with fewer, of the same length.
    """

    examples: int

    @property
    @abstractmethod
    def length(self) -> int:
        """The number of tokens of the longest sequence in the batch."""

    @property
    @abstractmethod
    def tokens(self) -> int:
        """The number of tokens of all sequences in the batch, padding included."""

    @abstractmethod
    def fairseq_task(self, cfg: Any) -> Any:
        """Return the fairseq task of a config, with dictionaries of the right size and without data."""

    @abstractmethod
    def draw(self, fairseq_task: Any, examples: int) -> dict[str, Any]:
        """Return so many examples of the batch in fairseq's form, their symbols drawn at random."""

    @abstractmethod
    def output_layer(self, model: nn.Module) -> nn.Module:
        """Return the layer of a model that gives a score for every symbol of the dictionary."""


@dataclass(frozen=True)
class Work(ABC):
    """An epoch of a run.

    Attributes:
        batches: how many batches the epoch has.
        largest: the batch that takes the most memory.
        assumed: what was assumed of a corpus that could not be counted, as a clause; empty for one that was.
    """

    batches: int
    largest: LargestBatch
    assumed: str

    @property
    @abstractmethod
    def tokens(self) -> int:
        """The number of tokens of all sequences in the epoch, without padding."""

    @abstractmethod
    def text(self, max_tokens: int) -> str:
        """Return a description of the epoch, as ``120 pairs, 600 and 610 tokens, 4 batches of at most 60 a side``.

        Args:
            max_tokens: the option of that name.
        """
