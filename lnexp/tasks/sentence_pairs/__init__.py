"""Classification of pairs of sentences by a pre-trained encoder: the fine-tuning of Fig. 5(b,c).

A run starts from a checkpoint of a run of ``task=masked_lm``, or says that it does not (``start.epoch=0``). Its fields:
an ``epoch`` record has ``valid_accuracy``, and ``valid_majority``, the accuracy of whoever always says the most
frequent class of train; its ``valid_loss`` and ``valid_nll`` are both the nll of the class, nats a pair. An ``end``
record has ``test_accuracy``, ``test_majority`` and ``test_nll``.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from omegaconf import DictConfig

from lnexp.tasks.contract import Column, Evaluation, Field, MeasuredRun, Record, Score, Start, Task
from lnexp.tasks.sentence_pairs.options import OPTIONS

if TYPE_CHECKING:
    from lnexp.tasks.sentence_pairs.corpus import PairsCorpus
    from lnexp.tasks.sentence_pairs.planning import PairsWork
    from lnexp.training.ranks import Ranks


def majority(run: MeasuredRun) -> float | None:
    """Return the validation accuracy of whoever always says the most frequent class of train."""
    return run.epochs[-1]["valid_majority"] if run.epochs else None


class SentencePairs(Task):
    """Which class a pair of sentences has."""

    name = "sentence_pairs"
    score = Score("accuracy", "accuracy", low=0, high=1, places=3)
    epoch_fields = (Field("valid_majority", 0, 1),)
    epoch_columns = ("valid_majority",)
    test_fields = (Field("test_majority", 0, 1), Field("test_nll", 0))
    test_note = "Test accuracy is of the checkpoint with the least validation nll, which is in nats a pair."
    unit = "labelled_pairs"
    loss_of = "pair"
    packages = ("sacremoses", "sentencepiece", "subword-nmt")
    builds_on = ("masked_lm",)
    options = OPTIONS
    run_columns = (Column("start_epoch", lambda run: run.cfg.start.epoch), Column("valid_majority", majority))
    measures = {"majority": majority}  # noqa: RUF012  (the contract declares it a Mapping)

    def register(self) -> None:
        from lnexp.tasks.sentence_pairs import criterion, fairseq_task  # noqa: F401

    def check(self, settings: Mapping[str, Any]) -> None:
        from lnexp.tasks.sentence_pairs.which_pairs import refuse_other_pairs

        refuse_other_pairs(settings["data"])

    def start(self, cfg: DictConfig) -> Start | None:
        from lnexp.tasks.sentence_pairs.start import start_of

        return start_of(cfg)

    def start_checkpoint(self, cfg: DictConfig) -> Path | None:
        from lnexp.tasks.sentence_pairs.start import checkpoint_of

        return checkpoint_of(cfg)

    def set_starts(self, fairseq_task: Any, cfgs: Sequence[DictConfig]) -> None:
        fairseq_task.starts = [(self.start(cfg), self.start_checkpoint(cfg)) for cfg in cfgs]

    def prepare(self, data: DictConfig, data_dir: str | Path) -> "PairsCorpus":
        from lnexp.corpora.labelled_pairs import prepare_pairs
        from lnexp.tasks.sentence_pairs.corpus import PairsCorpus

        return PairsCorpus(prepare_pairs(data, data_dir).folder)

    def manifest(self, data: DictConfig, data_dir: str | Path) -> Record:
        from lnexp.corpora.labelled_pairs import pairs_folder
        from lnexp.tasks.sentence_pairs.corpus import PairsCorpus

        return PairsCorpus(pairs_folder(data, data_dir)).manifest

    def size_in_words(self, data: Mapping[str, Any]) -> str:
        which = f" ({data['pairs_name']})" if data.get("pairs_name") else ""
        return f"{data['labelled_pairs']['train']:,} labelled pairs{which}"

    def evaluation(self, cfg: DictConfig, fairseq_task: Any, corpus: Any, ranks: "Ranks") -> Evaluation:
        from lnexp.tasks.sentence_pairs.evaluation import SentencePairsEvaluation

        return SentencePairsEvaluation(cfg, fairseq_task, ranks)

    def work(self, cfg: DictConfig) -> "PairsWork":
        from lnexp.tasks.sentence_pairs.planning import work_of

        return work_of(cfg)

    def epoch_note(self, record: Mapping[Any, Any]) -> str:
        return f"always the most frequent class: {self.score.text(record['valid_majority'])}"

    def score_note(self, ends: Sequence[Record]) -> str:
        shares = sorted({end["test_majority"] for end in ends if end.get("test_majority") is not None})
        if not shares:
            return ""
        found = " or ".join(map(self.score.text, shares))
        return f"Whoever always says the most frequent class of train has a test accuracy of {found}."

    def end_words(self, record: Record) -> str:
        said = super().end_words(record)
        share = record["test_majority"]
        return said if share is None else f"{said}, majority {self.score.text(share)}"


TASK = SentencePairs()
