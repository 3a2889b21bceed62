"""Give an encoder sequences of tokens: the dataset and the fairseq task that tasks without a decoder share."""

from pathlib import Path
from typing import Any, Self

import numpy as np
from fairseq.data import Dictionary, FairseqDataset
from fairseq.tasks import FairseqTask

from lnexp.plugin.task import EveryExampleOnce

MASK = "<mask>"


class Sequences(FairseqDataset):
    """Sequences of tokens, in training in random order among those of one size; subclasses give and collate them.

    Args:
        sizes: tokens of each sequence, ``(examples,)``.
        words: the dictionary.
    """

    #: Whether what is random changes by epoch; the task turns it off for all but the training data.
    shuffle = True

    def __init__(self, sizes: np.ndarray, words: Dictionary):
        self.sizes, self.words = sizes, words

    def __len__(self) -> int:
        return len(self.sizes)

    def num_tokens(self, index: int) -> int:
        return self.sizes[index]

    def size(self, index: int) -> int:
        return self.sizes[index]

    def ordered_indices(self) -> np.ndarray:
        """Return all numbers by size, those of one size in random order; without ``shuffle`` as they are."""
        if not self.shuffle:
            return np.arange(len(self))
        order = np.random.permutation(len(self))
        return order[np.argsort(self.sizes[order], kind="stable")]


class SequencesTask(EveryExampleOnce, FairseqTask):
    """A task whose model reads one sequence, with words of one dictionary and ``<mask>``.

    Args:
        cfg: with ``data``, ``source_lang``, ``target_lang`` and ``max_source_positions``.
        words: the dictionary; ``<mask>`` is added to it.
    """

    source_dictionary: Any = None  # fairseq declares both as properties
    target_dictionary: Any = None

    def __init__(self, cfg: Any, words: Dictionary):
        super().__init__(cfg)
        self.source_dictionary = self.target_dictionary = words
        self.mask = words.add_symbol(MASK)

    @property
    def dictionary(self) -> Dictionary:
        """The words, ``<mask>`` included."""
        return self.source_dictionary

    @classmethod
    def setup_task(cls, cfg: Any, **_: Any) -> Self:
        """Return the task with the dictionary of the side that is read."""
        return cls(cfg, Dictionary.load(str(Path(cfg.data) / f"dict.{cfg.target_lang or cfg.source_lang}.txt")))

    def max_positions(self) -> int:
        """Return the most tokens that a sequence may have."""
        return self.cfg.max_source_positions
