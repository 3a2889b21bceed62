"""Compute sacreBLEU's statistics of each test sentence from the translations that a run's folder keeps."""

from lnexp.errors import UserError
from lnexp.runs.folder import RunFolder
from lnexp.tasks.contract import MeasuredRun, SentenceStatistics
from lnexp.tasks.translation import bleu
from lnexp.tasks.translation.corpus_of_run import corpus_of_run
from lnexp.tasks.translation.samples import HYPOTHESES


def statistics_of_test(run: MeasuredRun, folder: RunFolder) -> SentenceStatistics:
    """Return the statistics of ``test_bleu``; a diverged run without a test has those of empty translations.

    Raises:
        UserError: where the translations are missing, or the corpus is not the run's.
    """
    language = run.cfg.data.target_lang
    references = corpus_of_run(run.cfg, folder, run.cfg.data_dir).lines("test", language)
    hypotheses = [""] * len(references) if run.end["test_bleu"] is None else _kept(folder, len(references))
    return SentenceStatistics(bleu.sentence_counts(hypotheses, references, language), bleu.bleu_of_counts)


def _kept(folder: RunFolder, sentences: int) -> list[str]:
    """Return the translations of the test set. Raises UserError where there are not as many as sentences."""
    name = HYPOTHESES.format("test")
    lines = folder.lines(name)
    if len(lines) != sentences:
        raise UserError(
            f"{folder.path / name}: has {len(lines)} of {sentences} translations; force=true trains the run afresh"
        )
    return lines
