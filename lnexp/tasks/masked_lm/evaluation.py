"""Measure how many hidden words models predict, and how well."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import torch
from fairseq import utils
from omegaconf import DictConfig
from torch import Tensor
from torch.nn import functional

from lnexp.corpora.text import SPLITS
from lnexp.errors import UserError
from lnexp.tasks.contract import Evaluation, Member, Record

if TYPE_CHECKING:
    from lnexp.training.models.base import Models


class MaskedLmEvaluation(Evaluation):
    """Accuracy and nll of hidden words, for the model of a single run or for the members of an array.

    Args:
        cfg: the config of one member.
        task: fairseq's.
    """

    failure = "the model has no finite scores"

    def __init__(self, cfg: DictConfig, task: Any):
        self.cfg, self.task = cfg, task

    def load_data(self, fairseq: DictConfig) -> None:
        limits = {
            "train": fairseq.dataset.max_tokens,
            "valid": fairseq.dataset.max_tokens_valid,
            "test": self.cfg.evaluation.max_tokens,
        }
        for split in SPLITS:
            self.task.load_dataset(split)
            longest = int(self.task.dataset(split).sizes.max())
            limit = min(limits[split], self.task.max_positions())
            if longest > limit:
                raise UserError(
                    f"{self.cfg.data.name}: a block of {split} has {longest} tokens, more than the {limit} that a batch"
                    f" or the model takes; raise max_tokens, or set blocks.break_mode=none"
                )

    def validate(self, models: "Models", epoch: int, members: Mapping[int, Member]) -> dict[int, Record]:
        found = self._measure(models, "valid", members)
        return {number: {"valid_accuracy": accuracy} for number, (accuracy, _) in found.items()}

    def test(self, models: "Models", name: str, members: Mapping[int, Member]) -> dict[int, Record]:
        found = self._measure(models, "test", members)
        return {number: {"test_accuracy": accuracy, "test_nll": nll} for number, (accuracy, nll) in found.items()}

    @torch.no_grad()
    def _measure(self, models: "Models", split: str, members: Mapping[int, Member]) -> dict[int, tuple[float, float]]:
        """Return accuracy and nll (nats) of the hidden words of a split, of every member with finite scores."""
        model = models.model.eval()
        right, nll, count = dict.fromkeys(members, 0), dict.fromkeys(members, 0.0), 0
        batches = self.task.get_batch_iterator(self.task.dataset(split), max_tokens=self.cfg.evaluation.max_tokens)
        for batch in batches.next_epoch_itr(shuffle=False):
            batch = utils.move_to_cuda(batch) if next(model.parameters()).is_cuda else batch
            asked = batch["target"].ne(self.task.dictionary.pad())
            target = batch["target"][asked]
            count += len(target)
            hidden, weight = _before_scores(models, batch)
            for number in members:
                scores = (hidden[number][asked] @ weight[number].to(hidden.dtype).t()).float()
                right[number] += int(scores.argmax(-1).eq(target).sum())
                nll[number] += float(functional.cross_entropy(scores, target, reduction="sum"))
        finite = [number for number in members if abs(nll[number]) < float("inf")]
        return {number: (right[number] / count, nll[number] / count) for number in finite}


def _before_scores(models: "Models", batch: Any) -> tuple[Tensor, Tensor]:
    """Return hidden states, ``(S, B, time, channel)``, and output projections, ``(S, words, channel)``."""
    model = models.model
    if models.stacked:
        return model(**batch["net_input"]), model.output_weight
    return model.features(**batch["net_input"]).unsqueeze(0), model.output_weight.unsqueeze(0)
