"""Score translations with BLEU, as the fields of records."""

from omegaconf import DictConfig

from lnexp.corpora.prepare import PreparedCorpus
from lnexp.runs.records import Record
from lnexp.tasks.translation import bleu


def valid_scores(hypotheses: list[str], corpus: PreparedCorpus, cfg: DictConfig) -> Record:
    """Return the fields of an ``epoch`` record that score translations of the first validation sentences."""
    score = _valid_bleu(hypotheses, corpus, cfg)
    return {
        "valid_bleu": score.bleu,
        "bleu_signature": score.signature,
        "n_sentences": len(hypotheses),
        "beam": cfg.evaluation.valid_beam,
    }


def whole_valid_is_due(epoch: int, cfg: DictConfig) -> bool:
    """Return whether all validation sentences are translated after this epoch, beside the first ones."""
    every = cfg.evaluation.whole_valid_every
    return every > 0 and (epoch % every == 0 or epoch == cfg.max_epoch)


def whole_valid_scores(hypotheses: list[str], corpus: PreparedCorpus, cfg: DictConfig) -> Record:
    """Return the fields of an ``epoch`` record that score translations of all validation sentences."""
    return {"whole_valid_bleu": _valid_bleu(hypotheses, corpus, cfg).bleu, "whole_n_sentences": len(hypotheses)}


def _valid_bleu(hypotheses: list[str], corpus: PreparedCorpus, cfg: DictConfig) -> bleu.Score:
    references = corpus.lines("valid", cfg.data.target_lang)[: len(hypotheses)]
    return bleu.detokenised_bleu(hypotheses, references, cfg.data.target_lang)


def scores_of_test(hypotheses: list[str], corpus: PreparedCorpus, cfg: DictConfig) -> Record:
    """Return the fields of an ``end`` record that score translations of the test set."""
    references = corpus.lines("test", cfg.data.target_lang)
    detokenised = bleu.detokenised_bleu(hypotheses, references, cfg.data.target_lang)
    tokenised = bleu.tokenised_bleu(hypotheses, references)
    return {
        "test_bleu": detokenised.bleu,
        "bleu_signature": detokenised.signature,
        "test_bleu_tokenised": tokenised.bleu,
        "bleu_signature_tokenised": tokenised.signature,
        "n_sentences": len(hypotheses),
        "beam": cfg.evaluation.test_beam,
    }
