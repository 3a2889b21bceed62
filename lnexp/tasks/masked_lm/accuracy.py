"""Measure accuracy and nll of what an encoder predicts: what the evaluations of tasks without a decoder share."""

from abc import abstractmethod
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

import torch
from fairseq import utils
from omegaconf import DictConfig
from torch import Tensor
from torch.nn import functional

from lnexp.errors import UserError
from lnexp.tasks.contract import Evaluation, Member, limits
from lnexp.training.ranks import Ranks

if TYPE_CHECKING:
    from lnexp.training.models.base import Models


class Accuracy(Evaluation):
    """Accuracy and nll of predictions, for the model of a single run or for the members of an array.

    Args:
        cfg: the config of one member.
        task: fairseq's.
        ranks: the processes that share the batches.
    """

    failure = "the model has no finite scores"

    def __init__(self, cfg: DictConfig, task: Any, ranks: Ranks):
        self.cfg, self.task, self.ranks = cfg, task, ranks

    def load_data(self, fairseq: DictConfig) -> None:
        of_model = {"fairseq.task.max_source_positions": self.task.max_positions()}
        for split, (limit, option) in limits(self.cfg, fairseq, of_model).items():
            self.task.load_dataset(split)
            longest = int(self.task.dataset(split).sizes.max())
            if longest > limit:
                raise UserError(f"{self.too_long(split)}: {longest} tokens, more than the {limit} of {option}")

    @abstractmethod
    def too_long(self, split: str) -> str:
        """Return what is said of an example of a split that has more tokens than a batch or the model takes."""

    @abstractmethod
    def predicted(self, batch: Any) -> tuple[Any, Tensor]:
        """Return where a batch asks for predictions, and what is right there.

        Returns:
            An index of hidden states ``(B, time, channel)`` that gives ``(predictions, channel)``, and the right
            symbols, ``(predictions,)``.
        """

    @torch.no_grad()
    def measure(self, models: "Models", split: str, members: Mapping[int, Member]) -> dict[int, tuple[float, float]]:
        """Return accuracy and nll (nats a prediction) on a split, of every member with finite scores.

        Raises:
            UserError: where nothing is predicted, as where so few words are hidden that there is none.
        """
        model = models.model.eval()
        right, nll, count = dict.fromkeys(members, 0), dict.fromkeys(members, 0.0), 0
        for batch in self._batches(split):
            batch = utils.move_to_cuda(batch) if next(model.parameters()).is_cuda else batch
            where, target = self.predicted(batch)
            count += len(target)
            hidden, weight = _before_scores(models, batch)
            for number in members:
                scores = (hidden[number][where] @ weight[number].to(hidden.dtype).t()).float()
                right[number] += int(scores.argmax(-1).eq(target).sum())
                nll[number] += float(functional.cross_entropy(scores, target, reduction="sum"))
        shares = self.ranks.gather((right, nll, count))
        total = sum(count for _, _, count in shares)
        if not total:
            raise UserError(f"{split}: has no word that is hidden; masking.probability is too small for it")
        means = {
            number: (sum(of[number] for of, _, _ in shares) / total, sum(of[number] for _, of, _ in shares) / total)
            for number in members
        }
        return {number: mean for number, mean in means.items() if abs(mean[1]) < float("inf")}

    def _batches(self, split: str) -> Iterator[Any]:
        """Yield this process's share of the batches of a split."""
        iterator = self.task.get_batch_iterator(
            self.task.dataset(split),
            max_tokens=self.cfg.evaluation.max_tokens,
            num_shards=self.ranks.size,
            shard_id=self.ranks.rank,
            disable_iterator_cache=True,  # fairseq would give us the trainer's iterator over valid
        )
        yield from filter(None, iterator.next_epoch_itr(shuffle=False))  # a share can end with an empty batch


def _before_scores(models: "Models", batch: Any) -> tuple[Tensor, Tensor]:
    """Return hidden states, ``(S, B, time, channel)``, and output projections, ``(S, symbols, channel)``."""
    model = models.model
    if models.stacked:
        return model(**batch["net_input"]), model.output_weight
    return model.features(**batch["net_input"]).unsqueeze(0), model.output_weight.unsqueeze(0)
