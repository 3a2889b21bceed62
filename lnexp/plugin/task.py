"""Translation without losing a sentence."""

from dataclasses import dataclass, field
from typing import Optional

from fairseq.tasks import register_task
from fairseq.tasks.translation import TranslationConfig, TranslationTask

from .first_batch import copy_to_master


@dataclass
class LnexpTranslationConfig(TranslationConfig):
    """fairseq's own options of the translation task, and one that its base class looks for."""

    rebuild_batches: bool = field(
        default=True,
        metadata={
            "help": "make an epoch's batches from seed and epoch alone. fairseq makes them once, from the epoch that a "
            "process happens to start with, so a resumed run would see other batches than an undisturbed one"
        },
    )
    order_seed: Optional[int] = field(  # noqa: UP045  (fairseq reads the annotation, and knows this form alone)
        default=None, metadata={"help": "seed of the order of the training data; fairseq's common.seed if not given"}
    )


@register_task("lnexp_translation", dataclass=LnexpTranslationConfig)
class LnexpTranslationTask(TranslationTask):
    """fairseq's translation task, with every sentence in exactly one batch.

    The fairseq builds for Python ≥ 3.11 cut each batch to a multiple of ``required_batch_size_multiple`` (8 by default)
    and drop the rest, in training, validation and generation; and training skips a sentence that is too long with only
    a warning. Here the multiple is always 1, and a sentence that does not fit raises an error that names it.
    """

    def load_dataset(self, split, *args, **kwargs):
        super().load_dataset(split, *args, **kwargs)
        if split != self.cfg.train_subset:
            # always the same batches: their loss then does not depend on when a process was started
            self.datasets[split].shuffle = False

    def get_batch_iterator(self, dataset, *args, **kwargs):
        kwargs |= {"required_batch_size_multiple": 1, "ignore_invalid_inputs": False}
        if self.cfg.order_seed is not None:
            kwargs["seed"] = self.cfg.order_seed
        return super().get_batch_iterator(dataset, *args, **kwargs)

    def train_step(self, sample, model, criterion, optimizer, update_num, ignore_grad=False):
        """As fairseq's, behind :meth:`let_profile`."""
        self.let_profile(sample, model, optimizer)
        return super().train_step(sample, model, criterion, optimizer, update_num, ignore_grad)

    def let_profile(self, sample, model, optimizer) -> None:
        """Let placements that ask for it see a batch before the first update, see :mod:`.first_batch`."""
        if not getattr(model, "is_profiled", True) and model.profile_on(**sample["net_input"]):
            copy_to_master(optimizer)
