"""Measure how many hidden words models predict, and how well."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from torch import Tensor

from lnexp.tasks.contract import LIMITS, Member, Record
from lnexp.tasks.masked_lm.accuracy import Accuracy

if TYPE_CHECKING:
    from lnexp.training.models.base import Models


class MaskedLmEvaluation(Accuracy):
    """Accuracy and nll of hidden words."""

    def too_long(self, split: str, longest: int, limit: int) -> str:
        return (
            f"{self.cfg.data.name}: a block of {split} has {longest} tokens, more than the {limit} that a batch"
            f" or the model takes; raise {LIMITS[split]}, and beyond 1,024 tokens fairseq.task.max_source_positions,"
            " or set blocks.break_mode=none"
        )

    def predicted(self, batch: Any) -> tuple[Tensor, Tensor]:
        asked = batch["target"].ne(self.task.dictionary.pad())
        return asked, batch["target"][asked]

    def validate(self, models: "Models", epoch: int, members: Mapping[int, Member]) -> dict[int, Record]:
        found = self.measure(models, "valid", members)
        return {number: {"valid_accuracy": accuracy} for number, (accuracy, _) in found.items()}

    def test(self, models: "Models", name: str, members: Mapping[int, Member]) -> dict[int, Record]:
        found = self.measure(models, "test", members)
        return {number: {"test_accuracy": accuracy, "test_nll": nll} for number, (accuracy, nll) in found.items()}
