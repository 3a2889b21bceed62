"""Translation without losing a sentence."""

from dataclasses import dataclass

from fairseq.tasks import register_task
from fairseq.tasks.translation import TranslationConfig, TranslationTask


@dataclass
class LnexpTranslationConfig(TranslationConfig):
    """fairseq's own options of the translation task."""


@register_task("lnexp_translation", dataclass=LnexpTranslationConfig)
class LnexpTranslationTask(TranslationTask):
    """fairseq's translation task, with every sentence in exactly one batch.

    The fairseq builds for Python ≥ 3.11 cut each batch to a multiple of ``required_batch_size_multiple`` (8 by default)
    and drop the rest, in training, validation and generation; and training skips a sentence that is too long with only
    a warning. Here the multiple is always 1, and a sentence that does not fit raises an error that names it.
    """

    def get_batch_iterator(self, dataset, *args, **kwargs):
        kwargs |= {"required_batch_size_multiple": 1, "ignore_invalid_inputs": False}
        return super().get_batch_iterator(dataset, *args, **kwargs)
