"""The fairseq task ``lnexp_translation``: translation without losing a sentence."""

from dataclasses import dataclass

from fairseq.tasks import register_task
from fairseq.tasks.translation import TranslationConfig, TranslationTask

from .encoder_decoder import EncoderDecoder
from .task import EveryExampleOnce, TaskOptions


@dataclass
class LnexpTranslationConfig(TaskOptions, TranslationConfig):
    """fairseq's own options of the translation task, and those of every task of ours."""


@register_task("lnexp_translation", dataclass=LnexpTranslationConfig)
class LnexpTranslationTask(EveryExampleOnce, TranslationTask):
    """fairseq's translation task, with every sentence in exactly one batch."""

    family = EncoderDecoder
