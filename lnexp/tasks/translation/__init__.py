"""Translation: BLEU of translations of sentence pairs, by beam search.

Its fields of an ``epoch`` record:

=================== ============================================================================================
valid_bleu          sacreBLEU, 0 to 100, of detokenised translations of the first ``n_sentences`` of valid
bleu_signature      sacreBLEU's own signature
n_sentences         sentences translated
beam                beam size they were translated with
whole_valid_bleu    as ``valid_bleu``, of all of valid; at the epochs that ``evaluation.whole_valid_every`` asks for
whole_n_sentences   sentences of that
=================== ============================================================================================

Of an ``end`` record: ``test_bleu`` (detokenised) and ``test_bleu_tokenised``, each with its signature, ``n_sentences``
and ``beam``. Of the average of the last checkpoints: ``averaged_test_bleu`` and ``averaged_test_bleu_tokenised``.
"""

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from omegaconf import DictConfig

from lnexp.corpora.known import is_whole, train_pairs_in_words
from lnexp.tasks.contract import (
    Column,
    Evaluation,
    Field,
    MeasuredRun,
    Record,
    Samples,
    Score,
    SentenceStatistics,
    Task,
)
from lnexp.tasks.translation.options import OPTIONS

if TYPE_CHECKING:
    from lnexp.corpora.prepare import PreparedCorpus
    from lnexp.runs.folder import RunFolder
    from lnexp.tasks.translation.planning import PairsWork
    from lnexp.training.ranks import Ranks


def _train_pairs(run: MeasuredRun) -> int | None:
    return run.environment.get("data", {}).get("pairs", {}).get("train")


#: sacreBLEU's signature of the detokenised score: its defaults, in the words of any version.
SIGNATURE = re.compile(r"nrefs:1\|case:mixed\|eff:no\|tok:13a\|smooth:exp\|version:([\w.+-]+)")


class Translation(Task):
    """Translation of one side of a parallel corpus into the other."""

    name = "translation"
    score = Score("bleu", "BLEU", low=0, high=100, places=1)
    epoch_fields = (Field("whole_valid_bleu", 0, 100),)
    epoch_columns = ("bleu_signature", "n_sentences", "beam")
    test_fields = (Field("test_bleu_tokenised", 0, 100),)
    samples_title = "Translations by epoch"
    test_note = (
        "Test BLEU is of the checkpoint with the least validation nll, or of the last one of a diverged run that"
        " decodes."
    )
    unit = "pairs"
    packages = ("sacrebleu", "sacremoses", "sentencepiece", "subword-nmt")
    sides = ("encoder", "decoder")
    options = OPTIONS
    run_columns = (
        Column("bleu_signature", lambda run: run.end.get("bleu_signature")),
        Column("train_pairs", _train_pairs),
    )

    def prepare(self, data: DictConfig, data_dir: str | Path) -> "PreparedCorpus":
        from lnexp.corpora.prepare import prepare

        return prepare(data, data_dir)

    def manifest(self, data: DictConfig, data_dir: str | Path) -> Record:
        from lnexp.corpora.prepare import PreparedCorpus, corpus_folder

        return PreparedCorpus(corpus_folder(data, data_dir)).manifest

    def size_in_words(self, data: Mapping[str, Any]) -> str:
        return train_pairs_in_words(data["pairs"]["train"], data.get("part_of"))

    def is_whole(self, corpus: str, data: Mapping[str, Any]) -> bool:
        return data.get("part_of") == corpus and is_whole(corpus, data["pairs"]["train"])

    def evaluation(self, cfg: DictConfig, fairseq_task: Any, corpus: Any, ranks: "Ranks") -> Evaluation:
        from lnexp.tasks.translation.evaluation import TranslationEvaluation

        return TranslationEvaluation(cfg, fairseq_task, corpus, ranks)

    def work(self, cfg: DictConfig) -> "PairsWork":
        from lnexp.tasks.translation.planning import work_of

        return work_of(cfg)

    def samples(self, cfg: DictConfig, folder: "RunFolder", epoch: int) -> Samples | None:
        from lnexp.tasks.translation.samples import SAMPLE_COLUMNS, samples

        rows = samples(cfg, folder, epoch)
        return Samples(SAMPLE_COLUMNS, rows) if rows else None

    def sentence_statistics(self, run: MeasuredRun, folder: "RunFolder") -> SentenceStatistics:
        from lnexp.tasks.translation.sentence_statistics import statistics_of_test

        return statistics_of_test(run, folder)

    def epoch_note(self, record: Mapping[Any, Any]) -> str:
        return f"BLEU: {record['n_sentences']} sentences, beam {record['beam']}"

    def score_note(self, ends: Sequence[Record]) -> str:
        signatures = sorted({end["bleu_signature"] for end in ends if end.get("bleu_signature")})
        return f"BLEU: {'; '.join(f'`{signature}`' for signature in signatures) or 'none yet'}."

    def is_scored_by(self, run: MeasuredRun) -> bool:
        """Return whether all signatures of a run are those of detokenised BLEU by the sacreBLEU that it had."""
        stated = {one["bleu_signature"] for one in (*run.epochs, run.end) if one.get("bleu_signature")}
        versions = {found[1] if (found := SIGNATURE.fullmatch(str(one))) else None for one in stated}
        installed = run.environment.get("packages", {}).get("sacrebleu")
        return versions <= {installed} if installed else None not in versions and len(versions) < 2

    def end_words(self, record: Record) -> str:
        if record["test_bleu"] is None:
            return "no checkpoint to test"
        return (
            f"test BLEU {record['test_bleu']:.2f} ({record['test_bleu_tokenised']:.2f} tokenised;"
            f" epoch {record['checkpoint_epoch']}, beam {record['beam']}, {record['n_sentences']} sentences)"
        )


TASK = Translation()
