"""Count the blocks that a run reads."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, ClassVar, TypeVar

import torch
from omegaconf import DictConfig
from torch import nn

from lnexp.corpora.known import KNOWN_WORDS
from lnexp.corpora.prepare import corpus_folder, prepare
from lnexp.errors import UserError
from lnexp.fairseq_config import build_task, to_fairseq
from lnexp.planning.batches import batches_of_epoch
from lnexp.planning.dictionary import made_up_dictionary
from lnexp.planning.work import LargestBatch, Work
from lnexp.tasks.masked_lm.fairseq_task import MaskedLmTask, batch_of

#: Subwords a word of lower-cased English in 30,000 pieces.
TOKENS_A_WORD = 1.2


@dataclass(frozen=True)
class SequencesBatch(LargestBatch):
    """Sequences of one length, for an encoder alone.

    Attributes:
        length_of_each: tokens of each.
        words: size of the dictionary, ``<mask>`` included.
    """

    length_of_each: int
    words: int

    @property
    def length(self) -> int:
        return self.length_of_each

    @property
    def tokens(self) -> int:
        return self.examples * self.length

    def output_layer(self, model: Any) -> nn.Module:
        layer: nn.Module = model.encoder.layers[-1]
        return layer


@dataclass(frozen=True)
class SequencesWork(Work):
    """An epoch of sequences.

    Attributes:
        examples: how many there are.
        all_tokens: of all of them, padding not counted.
    """

    examples: int
    all_tokens: int
    #: What an example is called, in the plural.
    called: ClassVar[str]

    @property
    def tokens(self) -> int:
        return self.all_tokens

    def text(self, max_tokens: int) -> str:
        about = "about " if self.assumed else ""
        batches = f"{self.batches:,} batches of at most {max_tokens:,}"
        return f"{about}{self.examples:,} {self.called}, {self.all_tokens:,} tokens, {batches}"


AnyWork = TypeVar("AnyWork", bound=SequencesWork)


def counted(
    cfg: DictConfig, bin_dir: Path, make_batch: Callable[[int, int, int], SequencesBatch], work: type[AnyWork]
) -> AnyWork:
    """Return an epoch of a prepared corpus, with its batches as fairseq makes them.

    Args:
        cfg: the config.
        bin_dir: the binarized corpus.
        make_batch: makes a batch of its number of examples, their tokens at most, and the number of words.
        work: what to return.

    Raises:
        UserError: where an example has more tokens than a batch may have.
    """
    fairseq = to_fairseq(cfg, bin_dir, Path("none"))
    task = build_task(fairseq)
    task.load_dataset("train")
    data = task.dataset("train")
    batches = batches_of_epoch(cfg, data, fairseq.dataset.batch_size)
    each = (make_batch(len(batch), int(data.sizes[batch].max()), len(task.dictionary)) for batch in batches)
    largest = max(each, key=lambda batch: batch.tokens)
    return work(len(batches), largest, "", len(data), int(data.sizes.sum()))


@dataclass(frozen=True)
class BlocksBatch(SequencesBatch):
    """Blocks of one length.

    Attributes:
        share: of the tokens that are predicted.
    """

    share: float

    def fairseq_task(self, cfg: Any) -> MaskedLmTask:
        return MaskedLmTask(cfg, made_up_dictionary(self.words - 1))

    def draw(self, fairseq_task: Any, examples: int) -> dict[str, Any]:
        words = fairseq_task.dictionary
        rows = torch.randint(words.nspecial, len(words), (examples, self.length))
        targets = rows.clone()
        targets[:, max(round(self.share * self.length), 1) :] = words.pad()
        return batch_of(list(zip(range(examples), rows, targets, strict=True)), words)


class BlocksWork(SequencesWork):
    """An epoch of blocks."""

    called = "blocks"


def work_of(cfg: DictConfig) -> BlocksWork:
    """Return an epoch of a config's corpus; a corpus that the project generates is prepared for it.

    Raises:
        UserError: for a corpus of files that is not prepared and whose size is not known, or blocks that fit no batch.
    """
    if cfg.blocks.tokens > cfg.max_tokens:
        raise UserError(f"blocks.tokens={cfg.blocks.tokens}: more than the max_tokens={cfg.max_tokens} of a batch")
    made = str(cfg.data.text._target_).startswith("lnexp.corpora.toy")
    if made or corpus_folder(cfg.data, cfg.data_dir).is_dir():
        batch = partial(BlocksBatch, share=cfg.masking.probability)
        return counted(cfg, prepare(cfg.data, cfg.data_dir).bin, batch, BlocksWork)
    if cfg.data.name in KNOWN_WORDS:
        return _assumed(cfg, round(KNOWN_WORDS[cfg.data.name] * TOKENS_A_WORD))
    raise UserError(f"data={cfg.data.name}: not prepared yet; say scripts/prepare_data.py with the same options")


def _assumed(cfg: DictConfig, tokens: int) -> BlocksWork:
    """Return an epoch of so many tokens in full blocks."""
    blocks = tokens // cfg.blocks.tokens
    of_each = min(cfg.max_tokens // cfg.blocks.tokens, cfg.fairseq.dataset.get("batch_size") or blocks)
    largest = BlocksBatch(of_each, cfg.blocks.tokens, int(cfg.data.subword.size), cfg.masking.probability)
    assumed = f"{TOKENS_A_WORD} tokens a word and full blocks are assumed"
    return BlocksWork(math.ceil(blocks / of_each), largest, assumed, blocks, tokens)
