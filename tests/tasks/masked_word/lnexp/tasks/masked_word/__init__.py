"""Masked words: tell the word that is hidden in each sentence of one side of a parallel corpus."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from omegaconf import DictConfig

from lnexp.tasks.contract import Evaluation, Record, Score, Task


class MaskedWord(Task):
    """An encoder reads a sentence with one word hidden, and scores every word in its place."""

    name = "masked_word"
    score = Score("accuracy", "accuracy", low=0, high=1, places=3)
    test_note = "Test accuracy is of the checkpoint with the least validation nll."
    unit = "sentences"

    def register(self) -> None:
        from lnexp.tasks.masked_word import fairseq_task  # noqa: F401

    def prepare(self, data: DictConfig, data_dir: str | Path) -> Any:
        from lnexp.tasks.masked_word.corpus import OneSide, prepare

        return OneSide(prepare(data, data_dir).folder)

    def manifest(self, data: DictConfig, data_dir: str | Path) -> Record:
        from lnexp.tasks.masked_word.corpus import OneSide, corpus_folder

        return OneSide(corpus_folder(data, data_dir)).manifest

    def size_in_words(self, data: Mapping[str, Any]) -> str:
        return f"{data['sentences']['train']:,} training sentences"

    def evaluation(self, cfg: DictConfig, fairseq_task: Any, corpus: Any, ranks: Any) -> Evaluation:
        from lnexp.tasks.masked_word.evaluation import MaskedWordEvaluation

        return MaskedWordEvaluation(cfg, fairseq_task)

    def work(self, cfg: DictConfig) -> Any:
        from lnexp.tasks.masked_word.planning import work_of

        return work_of(cfg)


TASK = MaskedWord()
