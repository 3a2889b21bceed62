"""Measure how many pairs models classify as they are labelled, beside whoever always says the most frequent class."""

from collections import Counter
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import torch
from fairseq import utils
from omegaconf import DictConfig
from torch.nn import functional

from lnexp.corpora.text import SPLITS
from lnexp.errors import UserError
from lnexp.tasks.contract import Evaluation, Member, Record

if TYPE_CHECKING:
    from lnexp.training.models.base import Models


class SentencePairsEvaluation(Evaluation):
    """Accuracy and nll of classes, for the model of a single run or for the members of an array.

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
            data = self.task.dataset(split)
            longest, limit = int(data.sizes.max()), min(limits[split], self.task.max_positions())
            if longest > limit:
                raise UserError(
                    f"{self.cfg.data.pairs.name}: a pair of {split} has {longest} tokens, more than the {limit} that a"
                    " batch or the model takes; raise max_tokens"
                )
            if max(data.labels) >= self.task.classes:
                raise UserError(f"{self.cfg.data.pairs.name}: {split} has more than {self.task.classes} classes")

    def validate(self, models: "Models", epoch: int, members: Mapping[int, Member]) -> dict[int, Record]:
        share = self._majority("valid")
        found = self._measure(models, "valid", members)
        return {
            number: {"valid_accuracy": accuracy, "valid_majority": share} for number, (accuracy, _) in found.items()
        }

    def test(self, models: "Models", name: str, members: Mapping[int, Member]) -> dict[int, Record]:
        share = self._majority("test")
        found = self._measure(models, "test", members)
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

    @torch.no_grad()
    def _measure(self, models: "Models", split: str, members: Mapping[int, Member]) -> dict[int, tuple[float, float]]:
        """Return accuracy and nll (nats) of the classes of a split, of every member with finite scores."""
        model = models.model.eval()
        right, nll, count = dict.fromkeys(members, 0), dict.fromkeys(members, 0.0), 0
        batches = self.task.get_batch_iterator(self.task.dataset(split), max_tokens=self.cfg.evaluation.max_tokens)
        for batch in batches.next_epoch_itr(shuffle=False):
            batch = utils.move_to_cuda(batch) if next(model.parameters()).is_cuda else batch
            target = batch["target"]
            count += len(target)
            # (S, B, 1, channel) and (S, classes, channel), of a single run with S = 1
            hidden = model(**batch["net_input"]) if models.stacked else model.features(**batch["net_input"])[None]
            weight = model.output_weight if models.stacked else model.output_weight[None]
            for number in members:
                scores = (hidden[number][:, 0] @ weight[number].to(hidden.dtype).t()).float()
                right[number] += int(scores.argmax(-1).eq(target).sum())
                nll[number] += float(functional.cross_entropy(scores, target, reduction="sum"))
        finite = [number for number in members if abs(nll[number]) < float("inf")]
        return {number: (right[number] / count, nll[number] / count) for number in finite}
