"""Follow ``fairseq.checkpoint.patience``: training ends after so many validations without a better loss."""

import math
from collections.abc import Iterable

from lnexp.tasks.contract import Record

#: The losses that fairseq can watch, by its names of them.
WATCHED = {"loss": "valid_loss", "nll_loss": "valid_nll"}


def watched(epochs: Iterable[Record], metric: str = "loss") -> list[float]:
    """Return the losses of epochs as fairseq compares them: in bits, with three decimals.

    Args:
        epochs: records of epochs, oldest first.
        metric: the option ``fairseq.checkpoint.best_checkpoint_metric``, one of :data:`WATCHED`.
    """
    losses = (record[WATCHED[metric]] for record in epochs)
    return [math.inf if loss is None else round(loss / math.log(2), 3) for loss in losses]


def waits(losses: Iterable[float]) -> list[int]:
    """Return, of each validation, how many there have been since the best one."""
    counts: list[int] = []
    best = math.inf
    for loss in losses:
        counts.append(0 if not counts or loss < best else counts[-1] + 1)
        best = min(best, loss)
    return counts
