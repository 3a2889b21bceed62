"""What translations are worth, as records say it."""

from omegaconf import DictConfig

from lnexp.corpora.prepare import PreparedCorpus
from lnexp.runs.records import Record
from lnexp.training import bleu


def valid_scores(hypotheses: list[str], corpus: PreparedCorpus, cfg: DictConfig) -> Record:
    """The part of an ``epoch`` record that is about translations of the first sentences of valid."""
    score = _valid_bleu(hypotheses, corpus, cfg)
    return {
        "valid_bleu": score.bleu,
        "bleu_signature": score.signature,
        "n_sentences": len(hypotheses),
        "beam": cfg.evaluation.valid_beam,
    }


def whole_valid_is_due(epoch: int, cfg: DictConfig) -> bool:
    """Whether all of valid is translated after this epoch, beside its first sentences."""
    every = cfg.evaluation.whole_valid_every
    return every > 0 and (epoch % every == 0 or epoch == cfg.max_epoch)


def whole_valid_scores(hypotheses: list[str], corpus: PreparedCorpus, cfg: DictConfig) -> Record:
    """The part of an ``epoch`` record that is about translations of all of valid."""
    return {"whole_valid_bleu": _valid_bleu(hypotheses, corpus, cfg).bleu, "whole_n_sentences": len(hypotheses)}


def _valid_bleu(hypotheses: list[str], corpus: PreparedCorpus, cfg: DictConfig) -> bleu.Score:
    references = corpus.lines("valid", cfg.data.target_lang)[: len(hypotheses)]
    return bleu.detokenised_bleu(hypotheses, references, cfg.data.target_lang)


def end_record(epoch: int, hypotheses: list[str], corpus: PreparedCorpus, cfg: DictConfig) -> Record:
    """The ``end`` record for translations of test by the checkpoint of ``epoch``."""
    detokenised, tokenised = _test_bleu(hypotheses, corpus, cfg)
    return {
        "kind": "end",
        "checkpoint_epoch": epoch,
        "test_bleu": detokenised.bleu,
        "bleu_signature": detokenised.signature,
        "test_bleu_tokenised": tokenised.bleu,
        "bleu_signature_tokenised": tokenised.signature,
        "n_sentences": len(hypotheses),
        "beam": cfg.evaluation.test_beam,
    }


def averaged_scores(epochs: list[int], hypotheses: list[str], corpus: PreparedCorpus, cfg: DictConfig) -> Record:
    """The part of an ``end`` record that is about the average of the checkpoints of ``epochs``."""
    detokenised, tokenised = _test_bleu(hypotheses, corpus, cfg)
    return {
        "averaged_epochs": epochs,
        "averaged_test_bleu": detokenised.bleu,
        "averaged_test_bleu_tokenised": tokenised.bleu,
    }


def _test_bleu(hypotheses: list[str], corpus: PreparedCorpus, cfg: DictConfig) -> tuple[bleu.Score, bleu.Score]:
    """Detokenised and tokenised."""
    references = corpus.lines("test", cfg.data.target_lang)
    detokenised = bleu.detokenised_bleu(hypotheses, references, cfg.data.target_lang)
    return detokenised, bleu.tokenised_bleu(hypotheses, references)


def no_end_record() -> Record:
    """The ``end`` record of a run without a checkpoint that decodes."""
    return {"kind": "end", "checkpoint_epoch": None, "test_bleu": None, "test_bleu_tokenised": None}
