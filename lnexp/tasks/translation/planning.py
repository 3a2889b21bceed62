"""Count the sentence pairs that a run reads: of a prepared corpus exactly, of another one by its known size."""

import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from fairseq.data.language_pair_dataset import collate
from omegaconf import DictConfig
from torch import nn

from lnexp.corpora.known import KNOWN
from lnexp.corpora.prepare import PreparedCorpus, corpus_folder, prepare
from lnexp.errors import UserError
from lnexp.fairseq_config import build_task, to_fairseq
from lnexp.planning.batches import batches_of_epoch
from lnexp.planning.dictionary import made_up_dictionary
from lnexp.planning.work import LargestBatch, Work
from lnexp.plugin.translation import LnexpTranslationTask

#: Assumed of a corpus that is not prepared: tokens of a sentence, and which share of a batch is padding or unused.
TOKENS_A_SENTENCE = 30
UNUSED = 0.05


@dataclass(frozen=True)
class PairsBatch(LargestBatch):
    """A batch of sentence pairs.

    Attributes:
        source, target: tokens of each sentence, end mark included.
        source_words, target_words: sizes of the dictionaries.
    """

    source: int
    target: int
    source_words: int
    target_words: int

    @property
    def length(self) -> int:
        return max(self.source, self.target)

    @property
    def tokens(self) -> int:
        return self.examples * (self.source + self.target)

    def fairseq_task(self, cfg: Any) -> LnexpTranslationTask:
        return LnexpTranslationTask(cfg, made_up_dictionary(self.source_words), made_up_dictionary(self.target_words))

    def draw(self, fairseq_task: Any, examples: int) -> dict[str, Any]:
        words = fairseq_task.source_dictionary

        def sentence(length: int, size: int) -> torch.Tensor:
            drawn = torch.randint(words.nspecial, size, (length,))
            drawn[-1] = words.eos()
            return drawn

        pairs = [
            {
                "id": number,
                "source": sentence(self.source, self.source_words),
                "target": sentence(self.target, self.target_words),
            }
            for number in range(examples)
        ]
        return collate(pairs, words.pad(), words.eos())

    def output_layer(self, model: Any) -> nn.Module:
        return model.decoder.output_projection


@dataclass(frozen=True)
class PairsWork(Work):
    """An epoch of sentence pairs.

    Attributes:
        pairs: how many there are.
        source_tokens, target_tokens: of all of them, end marks included, padding not.
    """

    pairs: int
    source_tokens: int
    target_tokens: int

    @property
    def tokens(self) -> int:
        return self.source_tokens + self.target_tokens

    def text(self, max_tokens: int) -> str:
        about = "about " if self.assumed else ""
        return (
            f"{about}{self.pairs:,} pairs, {self.source_tokens:,} and {self.target_tokens:,} tokens,"
            f" {self.batches:,} batches of at most {max_tokens:,} a side"
        )


def work_of(cfg: DictConfig) -> PairsWork:
    """Return an epoch of a config's corpus in batches of ``max_tokens``; the embedded corpus is prepared for it.

    Raises:
        UserError: for a corpus that is not prepared and whose size is not known.
    """
    folder = corpus_folder(cfg.data, cfg.data_dir)
    if folder.is_dir() or cfg.data.name == "toy":
        return _counted(cfg, prepare(cfg.data, cfg.data_dir))
    known = KNOWN.get(str(cfg.data.text.get("known_as")))
    if known is None:
        raise UserError(f"data={cfg.data.name}: not prepared yet; say scripts/prepare_data.py with the same options")
    pairs = known.pairs.get("train", known.about)
    tokens = pairs * TOKENS_A_SENTENCE
    words = int(cfg.data.subword.size)
    of_each = max(1, min(cfg.max_tokens // TOKENS_A_SENTENCE, cfg.fairseq.dataset.get("batch_size") or pairs))
    return PairsWork(
        batches=max(int(tokens / cfg.max_tokens / (1 - UNUSED)), math.ceil(pairs / of_each)),
        largest=PairsBatch(of_each, TOKENS_A_SENTENCE, TOKENS_A_SENTENCE, words, words),
        assumed=f"{TOKENS_A_SENTENCE} tokens a sentence are assumed",
        pairs=pairs,
        source_tokens=tokens,
        target_tokens=tokens,
    )


def _counted(cfg: DictConfig, corpus: PreparedCorpus) -> PairsWork:
    fairseq = to_fairseq(cfg, corpus.bin, Path("none"))
    task = build_task(fairseq)
    task.load_dataset("train")
    data = task.dataset("train")
    batches = batches_of_epoch(cfg, data, fairseq.dataset.batch_size)
    lengths = [(len(batch), data.src_sizes[batch].max(), data.tgt_sizes[batch].max()) for batch in batches]
    examples, source, target = max(lengths, key=lambda batch: batch[0] * (batch[1] + batch[2]))
    words = len(task.source_dictionary), len(task.target_dictionary)
    return PairsWork(
        batches=len(batches),
        largest=PairsBatch(int(examples), int(source), int(target), *words),
        assumed="",
        pairs=len(data),
        source_tokens=int(np.sum(data.src_sizes)),
        target_tokens=int(np.sum(data.tgt_sizes)),
    )
