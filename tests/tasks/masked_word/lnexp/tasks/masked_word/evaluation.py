"""Measure how many hidden words a model tells."""

from collections.abc import Mapping, Sequence
from typing import Any

import torch
from fairseq import utils
from omegaconf import DictConfig

from lnexp.tasks.contract import Evaluation, Member, Record


class MaskedWordEvaluation(Evaluation):
    """The share of hidden words that a single run's model tells."""

    failure = "the model has no finite scores"

    def __init__(self, cfg: DictConfig, task: Any):
        self.cfg, self.task = cfg, task

    def load_data(self, fairseq: DictConfig) -> None:
        for split in ("train", "valid", "test"):
            self.task.load_dataset(split)

    def validate(self, models: Any, epoch: int, members: Mapping[int, Member]) -> dict[int, Record]:
        return {0: {"valid_accuracy": self._accuracy(models.model, "valid")}}

    def test(self, models: Any, epochs: Mapping[int, int], members: Mapping[int, Member]) -> dict[int, Record]:
        measured = {"test_accuracy": self._accuracy(models.model, "test")}
        return {0: {"kind": "end", "checkpoint_epoch": epochs[0], **measured}}

    def test_average(
        self, models: Any, epochs: Mapping[int, Sequence[int]], members: Mapping[int, Member]
    ) -> dict[int, Record]:
        measured = {"averaged_test_accuracy": self._accuracy(models.model, "test")}
        return {0: {"averaged_epochs": list(epochs[0]), **measured}}

    @torch.no_grad()
    def _accuracy(self, model: Any, split: str) -> float:
        was_training, told, count = model.training, 0, 0
        model.eval()
        batches = self.task.get_batch_iterator(self.task.dataset(split), max_tokens=self.cfg.evaluation.max_tokens)
        for batch in batches.next_epoch_itr(shuffle=False):
            batch = utils.move_to_cuda(batch) if next(model.parameters()).is_cuda else batch
            asked = batch["target"].ne(self.task.target_dictionary.pad())
            told += int((model(**batch["net_input"]).argmax(-1) == batch["target"])[asked].sum())
            count += int(asked.sum())
        model.train(was_training)
        return told / count
