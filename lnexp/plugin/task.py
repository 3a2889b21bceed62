"""Extend a fairseq task: an epoch has every example once, in an order that follows from seed and epoch alone."""

from dataclasses import dataclass
from typing import Any, Optional

from fairseq.dataclass import FairseqDataclass

from .far_apart import far_apart
from .half_precision import copy_to_fp32
from .placement import option


@dataclass
class TaskOptions(FairseqDataclass):
    """Options of every task of ours, beside those of the fairseq task that it extends."""

    rebuild_batches: bool = option(
        True,
        "make an epoch's batches from seed and epoch alone. fairseq makes them once, from the epoch that a process "
        "happens to start with, so a resumed run would see other batches than an undisturbed one",
    )
    order_seed: Optional[int] = option(  # noqa: UP045  (fairseq reads the annotation, and knows this form alone)
        None, "seed of the order of the training data; fairseq's common.seed if not given"
    )


class EveryExampleOnce:
    """A fairseq task that has every example in exactly one batch (a mix-in, to stand before the task's class).

    The fairseq builds for Python ≥ 3.11 cut each batch to a multiple of ``required_batch_size_multiple`` (8 by default)
    and drop the rest, in training, validation and generation; and training skips an example that is too long with only
    a warning. Here the multiple is always 1, and an example that does not fit raises an error that names it.

    The task's options extend :class:`TaskOptions`. It may name the family of its models, see :class:`.family.Family`.
    """

    def load_dataset(self: Any, split: str, *args: Any, **kwargs: Any) -> None:
        """Load a split; all but the training data always keep one order."""
        super().load_dataset(split, *args, **kwargs)  # type: ignore[misc]
        if split != self.cfg.train_subset:
            # always the same batches: their loss then does not depend on when a process was started
            self.datasets[split].shuffle = False

    def get_batch_iterator(self: Any, dataset: Any, *args: Any, **kwargs: Any) -> Any:
        """Return fairseq's iterator over epochs, with every example in it and the order by ``order_seed``.

        fairseq orders an epoch by the sum of seed and epoch, so that epoch 2 of a seed would be epoch 1 of the next
        one. The seeds that it gets here lie far apart, and seeds give independent orders.

        Raises:
            Exception: for an example that no batch can hold.
        """
        kwargs |= {"required_batch_size_multiple": 1, "ignore_invalid_inputs": False}
        order = self.cfg.order_seed if self.cfg.order_seed is not None else kwargs.get("seed", 1)
        kwargs["seed"] = far_apart(order)
        return super().get_batch_iterator(dataset, *args, **kwargs)  # type: ignore[misc]

    def train_step(self: Any, sample, model, criterion, optimizer, update_num, ignore_grad=False):
        """Make fairseq's forward and backward pass, after :meth:`show_first_batch`."""
        self.show_first_batch(sample, model, optimizer)
        return super().train_step(sample, model, criterion, optimizer, update_num, ignore_grad)  # type: ignore[misc]

    def show_first_batch(self, sample: dict[str, Any], model: Any, optimizer: Any) -> None:
        """Show a batch to the placements that want one before the first update, see :mod:`.first_batch`."""
        if not getattr(model, "has_seen_first_batch", True) and model.see_first_batch(**sample["net_input"]):
            copy_to_fp32(optimizer)
