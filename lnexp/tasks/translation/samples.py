"""Make the table of sample translations: the first sentences of valid as every epoch translated them."""

from collections.abc import Sequence
from typing import Any

from omegaconf import DictConfig

from lnexp.corpora.prepare import PreparedCorpus, corpus_folder
from lnexp.runs.folder import RunFolder

#: The file in a run's folder with the translations of ``test``, ``test.averaged`` or ``valid.epoch1``.
HYPOTHESES = "hypotheses/{}.txt"
#: Sentences of valid whose translations are shown.
SAMPLES = 8
SAMPLE_COLUMNS = ("epoch", "sentence", "source", "reference", "hypothesis")


def samples(cfg: DictConfig, folder: RunFolder, epoch: int) -> list[Sequence[Any]]:
    """Return a row for every one of the first sentences and every epoch until ``epoch``, all text tokenised."""
    corpus = PreparedCorpus(corpus_folder(cfg.data, cfg.data_dir))
    sources, references = (
        corpus.lines("valid", language)[:SAMPLES] for language in (cfg.data.source_lang, cfg.data.target_lang)
    )
    return [
        (number, sentence, source, reference, hypothesis)
        for number in range(1, epoch + 1)
        for sentence, (source, reference, hypothesis) in enumerate(
            zip(sources, references, folder.lines(HYPOTHESES.format(f"valid.epoch{number}")), strict=False), start=1
        )
    ]
