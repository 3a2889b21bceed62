"""Measure how many pairs models classify as they are labelled, beside whoever always says the most frequent class."""

from collections import Counter
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from omegaconf import DictConfig
from torch import Tensor

from lnexp.corpora.text import SPLITS
from lnexp.errors import UserError
from lnexp.tasks.contract import Member, Record
from lnexp.tasks.masked_lm.accuracy import Accuracy

if TYPE_CHECKING:
    from lnexp.training.models.base import Models

#: Of hidden states, those of the ``<s>`` that begins each pair.
FIRST = (slice(None), 0)


class SentencePairsEvaluation(Accuracy):
    """Accuracy and nll of classes."""

    def load_data(self, fairseq: DictConfig) -> None:
        super().load_data(fairseq)
        for split in SPLITS:
            if max(self.task.dataset(split).labels) >= self.task.classes:
                raise UserError(f"{self.cfg.data.pairs.name}: {split} has more than {self.task.classes} classes")

    def too_long(self, split: str) -> str:
        return f"{self.cfg.data.pairs.name}: a pair of {split} is too long (raise the limit)"

    def predicted(self, batch: Any) -> tuple[Any, Tensor]:
        return FIRST, batch["target"]

    def validate(self, models: "Models", epoch: int, members: Mapping[int, Member]) -> dict[int, Record]:
        share = self._majority("valid")
        found = self.measure(models, "valid", members)
        return {
            number: {"valid_accuracy": accuracy, "valid_majority": share} for number, (accuracy, _) in found.items()
        }

    def test(self, models: "Models", name: str, members: Mapping[int, Member]) -> dict[int, Record]:
        share = self._majority("test")
        found = self.measure(models, "test", members)
        return {
            number: {"test_accuracy": accuracy, "test_majority": share, "test_nll": nll}
            for number, (accuracy, nll) in found.items()
        }

    def _majority(self, split: str) -> float:
        """Return the share of a split that has the most frequent class of train."""
        counts = Counter(self.task.dataset("train").labels)
        most = max(sorted(counts), key=counts.__getitem__)
        labels = self.task.dataset(split).labels
        return labels.count(most) / len(labels)
