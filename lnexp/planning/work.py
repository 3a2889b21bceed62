"""Define a unit of work: what a task states of an epoch and of its largest batch, so that runs can be planned."""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any

from torch import nn


@dataclass(frozen=True)
class LargestBatch(ABC):
    """The batch of a run that takes the most memory.

    Attributes:
        sentences: how many it has; a part of it has fewer, of the same length.
    """

    sentences: int

    @property
    @abstractmethod
    def length(self) -> int:
        """The tokens of the longest sequence of a sentence."""

    @property
    @abstractmethod
    def tokens(self) -> int:
        """All tokens of all its sequences, padding included."""

    @abstractmethod
    def fairseq_task(self, cfg: Any) -> Any:
        """Return the fairseq task of a config, with dictionaries of the right size and without data."""

    @abstractmethod
    def draw(self, fairseq_task: Any, sentences: int) -> dict[str, Any]:
        """Return so many sentences of the batch in fairseq's form, their words drawn at random."""

    @abstractmethod
    def output_layer(self, model: nn.Module) -> nn.Module:
        """Return the layer of a model that gives a score for every word of the dictionary."""


@dataclass(frozen=True)
class Work(ABC):
    """An epoch of a run.

    Attributes:
        batches: how many it has.
        largest: the one that takes the most memory.
        assumed: what was assumed where nothing could be counted, as a clause; empty elsewhere.
    """

    batches: int
    largest: LargestBatch
    assumed: str

    @property
    @abstractmethod
    def tokens(self) -> int:
        """All tokens of all its sequences, without padding."""

    @abstractmethod
    def text(self, max_tokens: int) -> str:
        """Return a description, as ``120 pairs, 600 and 610 tokens, 4 batches of at most 60 a side``.

        Args:
            max_tokens: the option of that name.
        """
