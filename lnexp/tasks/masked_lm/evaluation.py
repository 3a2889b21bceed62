"""Measure how many hidden words models predict, and how well."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from torch import Tensor

from lnexp.tasks.contract import Member, Record
from lnexp.tasks.masked_lm.accuracy import Accuracy

if TYPE_CHECKING:
    from lnexp.training.models.base import Models


class MaskedLmEvaluation(Accuracy):
    """Accuracy and nll of hidden words."""

    def too_long(self, split: str) -> str:
        return f"{self.cfg.data.name}: a block of {split} is too long (set blocks.break_mode=none, or raise the limit)"

    def predicted(self, batch: Any) -> tuple[Tensor, Tensor]:
        asked = batch["target"].ne(self.task.dictionary.pad())
        return asked, batch["target"][asked]

    def validate(self, models: "Models", epoch: int, members: Mapping[int, Member]) -> dict[int, Record]:
        found = self.measure(models, "valid", members)
        return {number: {"valid_accuracy": accuracy} for number, (accuracy, _) in found.items()}

    def test(self, models: "Models", name: str, members: Mapping[int, Member]) -> dict[int, Record]:
        found = self.measure(models, "test", members)
        return {number: {"test_accuracy": accuracy, "test_nll": nll} for number, (accuracy, nll) in found.items()}
