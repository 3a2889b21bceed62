"""Compute BLEU with sacreBLEU: detokenised, and as tokenised."""

from typing import NamedTuple

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


def _score(metric: BLEU, hypotheses: list[str], references: list[str]) -> Score:
    score = metric.corpus_score(hypotheses, [references]).score
    return Score(round(score, 4), str(metric.get_signature()))
