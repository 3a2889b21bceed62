"""Compute BLEU with sacreBLEU: detokenised, and as tokenised."""

from typing import NamedTuple

import numpy as np
from sacrebleu.metrics import BLEU
from sacremoses import MosesDetokenizer


class Score(NamedTuple):
    """BLEU from 0 to 100, and sacreBLEU's signature, which says how it was computed."""

    bleu: float
    signature: str


def detokenise(lines: list[str], language: str) -> list[str]:
    """Return Moses-tokenised lines as plain text."""
    detokenizer = MosesDetokenizer(lang=language)
    return [detokenizer.detokenize(line.split()) for line in lines]


def detokenised_bleu(hypotheses: list[str], references: list[str], language: str) -> Score:
    """Return the BLEU of tokenised lines after detokenising them, with sacreBLEU's own 13a tokenisation."""
    return _score(BLEU(), detokenise(hypotheses, language), detokenise(references, language))


def tokenised_bleu(hypotheses: list[str], references: list[str]) -> Score:
    """Return the BLEU of tokenised lines as they are, which is what most IWSLT14 papers report."""
    return _score(BLEU(tokenize="none", force=True), hypotheses, references)


def sentence_counts(hypotheses: list[str], references: list[str], language: str) -> np.ndarray:
    """Return what :func:`detokenised_bleu` sums over sentences, as sacreBLEU counts it.

    sacreBLEU's own significance tests take the counts from a private method. The public score of a single sentence has
    them, too.

    Returns:
        ``(sentences, 10)``: tokens of the translation and of the reference; for n from 1 to 4, the n-grams of the
        translation that the reference has; and all n-grams of the translation.
    """
    metric = BLEU(effective_order=True)  # which sacreBLEU asks for with single sentences; it changes no count
    pairs = zip(detokenise(hypotheses, language), detokenise(references, language), strict=True)
    scores = [metric.sentence_score(hypothesis, [reference]) for hypothesis, reference in pairs]
    return np.array([[score.sys_len, score.ref_len, *score.counts, *score.totals] for score in scores])


def bleu_of_counts(counts: np.ndarray) -> float:
    """Return the BLEU of a corpus, by summed rows of :func:`sentence_counts`, as :func:`detokenised_bleu` has it."""
    translated, reference, *ngrams = map(int, counts)
    orders = len(ngrams) // 2
    # "exp" is the default of a BLEU object, but not of this function
    return BLEU.compute_bleu(ngrams[:orders], ngrams[orders:], translated, reference, smooth_method="exp").score


def _score(metric: BLEU, hypotheses: list[str], references: list[str]) -> Score:
    score = metric.corpus_score(hypotheses, [references]).score
    return Score(round(score, 4), str(metric.get_signature()))
