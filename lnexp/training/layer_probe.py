"""Probe hidden states and FFN gradients of every layer along training, as in Fig. 3(a,b)."""

from typing import Any

from fairseq import utils

from lnexp.runs.records import Record
from lnexp.theory.by_layer import ffn_gradients, mean_norms
from lnexp.theory.models import ProbedModel, first_batches
from lnexp.training.evaluating import evaluating
from lnexp.training.loop import Loop


class LayerProbe:
    """Probes a model every so many updates, and leaves its parameters as they were.

    The minibatches are the same every time, from the training data, and there is no dropout.
    """

    def __init__(self, loop: Loop, every: int, batches: int):
        self.every = every
        self._probed = ProbedModel(loop.model, loop.criterion, shown_batches(loop, batches))

    def records(self, epoch: int, update: int) -> list[Record]:
        """Return the ``probe`` records of this update; none where no probe is due."""
        if update % self.every:
            return []
        with evaluating(self._probed.model):
            rows = [*ffn_gradients(self._probed), *mean_norms(self._probed)]
        return [{"kind": "probe", "epoch": epoch, "update": update, **row} for row in rows]


def shown_batches(loop: Loop, count: int) -> list[dict[str, Any]]:
    """Return the first minibatches of the training, as the model takes them.

    Before the first update placements have been shown the first of them, as they will be by the update.
    """
    dataset = loop.fairseq.dataset
    found = first_batches(loop.task, dataset.max_tokens, loop.cfg.order_seed, count, dataset)
    if loop.trainer.cuda:
        found = [utils.move_to_cuda(batch) for batch in found]
    if not loop.updates:
        loop.task.show_first_batch(found[0], loop.model, loop.trainer.optimizer)
    return found
