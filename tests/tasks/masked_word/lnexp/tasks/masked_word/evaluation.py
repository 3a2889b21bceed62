"""Measure how many hidden words models predict."""

from collections.abc import Mapping
from typing import Any

import torch
from fairseq import utils
from omegaconf import DictConfig

from lnexp.tasks.contract import Evaluation, Member, Record


class MaskedWordEvaluation(Evaluation):
    """The share of hidden words that each member predicts, in a single run or in an array."""

    failure = "the model has no finite scores"

    def __init__(self, cfg: DictConfig, task: Any):
        self.cfg, self.task = cfg, task

    def load_data(self, fairseq: DictConfig) -> None:
        for split in ("train", "valid", "test"):
            self.task.load_dataset(split)

    def validate(self, models: Any, epoch: int, members: Mapping[int, Member]) -> dict[int, Record]:
        found = self._accuracies(models, "valid", members)
        return {number: {"valid_accuracy": accuracy} for number, accuracy in found.items()}

    def test(self, models: Any, name: str, members: Mapping[int, Member]) -> dict[int, Record]:
        found = self._accuracies(models, "test", members)
        return {number: {"test_accuracy": accuracy} for number, accuracy in found.items()}

    @torch.no_grad()
    def _accuracies(self, models: Any, split: str, members: Mapping[int, Member]) -> dict[int, float]:
        model = models.model.eval()
        told, finite, count = dict.fromkeys(members, 0), dict.fromkeys(members, True), 0
        batches = self.task.get_batch_iterator(self.task.dataset(split), max_tokens=self.cfg.evaluation.max_tokens)
        for batch in batches.next_epoch_itr(shuffle=False):
            batch = utils.move_to_cuda(batch) if next(model.parameters()).is_cuda else batch
            asked = batch["target"].ne(self.task.target_dictionary.pad())
            count += int(asked.sum())
            hidden, weight = self._before_scores(models, batch)
            for number in members:
                scores = hidden[number][asked] @ weight[number].to(hidden.dtype).t()
                finite[number] &= bool(scores.isfinite().all())
                told[number] += int(scores.argmax(-1).eq(batch["target"][asked]).sum())
        return {number: told[number] / count for number in members if finite[number]}

    def _before_scores(self, models: Any, batch: Any) -> tuple[torch.Tensor, torch.Tensor]:
        """Return hidden states, ``(S, B, time, channel)``, and output projections, ``(S, words, channel)``."""
        model = models.model
        if models.stacked:
            return model(**batch["net_input"]), model.output_weight
        return model.features(**batch["net_input"]).unsqueeze(0), model.output_weight.unsqueeze(0)
