"""Count the labelled pairs that a run reads."""

import math
from typing import Any

import torch
from omegaconf import DictConfig

from lnexp.corpora.known import KNOWN_LABELLED_PAIRS
from lnexp.corpora.labelled_pairs import pairs_folder, prepare_pairs
from lnexp.errors import UserError
from lnexp.planning.dictionary import made_up_dictionary
from lnexp.tasks.masked_lm.planning import SequencesBatch, SequencesWork, counted
from lnexp.tasks.sentence_pairs.fairseq_task import SentencePairsTask, batch_of

#: Assumed of pairs that are not prepared: tokens of a pair, on average and at most.
TOKENS_A_PAIR, MOST_TOKENS_A_PAIR = 55, 128


class PairsBatch(SequencesBatch):
    """Pairs of one length."""

    def fairseq_task(self, cfg: Any) -> SentencePairsTask:
        return SentencePairsTask(cfg, made_up_dictionary(self.words - 1))

    def draw(self, fairseq_task: Any, examples: int) -> dict[str, Any]:
        words = fairseq_task.dictionary
        rows = torch.randint(words.nspecial, len(words), (examples, self.length))
        return batch_of([(number, row, number % 2) for number, row in enumerate(rows)], words)


class PairsWork(SequencesWork):
    """An epoch of labelled pairs."""

    called = "labelled pairs"


def work_of(cfg: DictConfig) -> PairsWork:
    """Return an epoch of a config's pairs; those that the project generates are prepared for it.

    Raises:
        UserError: for pairs of files that are not prepared and whose number is not known.
    """
    pairs = cfg.data.pairs
    if pairs.get("path") is None or pairs_folder(cfg.data, cfg.data_dir).is_dir():
        return counted(cfg, prepare_pairs(cfg.data, cfg.data_dir).bin, PairsBatch, PairsWork)
    if pairs.name in KNOWN_LABELLED_PAIRS:
        return _assumed(cfg, KNOWN_LABELLED_PAIRS[pairs.name])
    raise UserError(f"pairs={pairs.name}: not prepared yet; say scripts/prepare_data.py with the same options")


def _assumed(cfg: DictConfig, pairs: int) -> PairsWork:
    """Return an epoch of so many pairs. Raises UserError where the longest would fit into no batch."""
    if cfg.max_tokens < MOST_TOKENS_A_PAIR:
        raise UserError(f"max_tokens={cfg.max_tokens}: {MOST_TOKENS_A_PAIR} tokens of the longest pair are assumed")
    most = cfg.fairseq.dataset.get("batch_size") or pairs
    of_each = min(cfg.max_tokens // TOKENS_A_PAIR, most)
    largest = PairsBatch(min(cfg.max_tokens // MOST_TOKENS_A_PAIR, most), MOST_TOKENS_A_PAIR, cfg.data.subword.size)
    assumed = f"{TOKENS_A_PAIR} tokens a pair are assumed, and {MOST_TOKENS_A_PAIR} of the longest"
    return PairsWork(math.ceil(pairs / of_each), largest, assumed, pairs, pairs * TOKENS_A_PAIR)
