"""Masked language modelling: hidden words of packed sentences, as BERT is pre-trained (Devlin et al. 2019).

Its fields: an ``epoch`` record has ``valid_accuracy``, the share of hidden words of valid that the model predicts; its
``valid_loss`` and ``valid_nll`` are both the nll of hidden words, nats a word, since labels are not smoothed. An
``end`` record has ``test_accuracy`` and ``test_nll``. Which words of valid and test are hidden is the same in every
run.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from omegaconf import DictConfig

from lnexp.tasks.contract import Column, Evaluation, Field, Record, Score, Task
from lnexp.tasks.masked_lm.measures import updates_to_nll
from lnexp.tasks.masked_lm.options import OPTIONS

if TYPE_CHECKING:
    from lnexp.tasks.masked_lm.corpus import OneSide
    from lnexp.tasks.masked_lm.planning import BlocksWork
    from lnexp.training.ranks import Ranks


class MaskedLm(Task):
    """Prediction of the hidden words of blocks of text."""

    name = "masked_lm"
    score = Score("accuracy", "accuracy", low=0, high=1, places=3)
    test_fields = (Field("test_nll", 0),)
    test_note = "Test accuracy and nll, of hidden words, are of the checkpoint with the least validation nll."
    unit = "sentences"
    loss_of = "hidden word"
    packages = ("sacremoses", "sentencepiece", "subword-nmt")
    options = OPTIONS
    run_columns = (Column("updates_to_nll", updates_to_nll),)
    measures = {"updates_to_nll": updates_to_nll}  # noqa: RUF012  (the contract declares it a Mapping)

    def register(self) -> None:
        from lnexp.tasks.masked_lm import criterion, fairseq_task  # noqa: F401

    def prepare(self, data: DictConfig, data_dir: str | Path) -> "OneSide":
        from lnexp.corpora.prepare import prepare
        from lnexp.tasks.masked_lm.corpus import OneSide

        return OneSide(prepare(data, data_dir).folder)

    def manifest(self, data: DictConfig, data_dir: str | Path) -> Record:
        from lnexp.corpora.prepare import corpus_folder
        from lnexp.tasks.masked_lm.corpus import OneSide

        return OneSide(corpus_folder(data, data_dir)).manifest

    def size_in_words(self, data: Mapping[str, Any]) -> str:
        return f"{data['sentences']['train']:,} training sentences"

    def evaluation(self, cfg: DictConfig, fairseq_task: Any, corpus: Any, ranks: "Ranks") -> Evaluation:
        from lnexp.tasks.masked_lm.evaluation import MaskedLmEvaluation

        return MaskedLmEvaluation(cfg, fairseq_task, ranks)

    def work(self, cfg: DictConfig) -> "BlocksWork":
        from lnexp.tasks.masked_lm.planning import work_of

        return work_of(cfg)


TASK = MaskedLm()
