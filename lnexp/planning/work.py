"""How much text a run reads: of a prepared corpus exactly, of one that is still to be had by its known size."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from fairseq import tasks
from omegaconf import DictConfig

from lnexp.corpora.known import KNOWN
from lnexp.corpora.prepare import PreparedCorpus, corpus_folder, prepare
from lnexp.errors import UserError
from lnexp.fairseq_config import to_fairseq
from lnexp.planning.step import Shape

#: Assumed of a corpus that is not prepared: tokens of a sentence, and how much of a batch is padding or left over.
TOKENS_A_SENTENCE = 30
UNUSED = 0.05


@dataclass(frozen=True)
class Work:
    """An epoch.

    Attributes:
        pairs: of sentences.
        source_tokens, target_tokens: that they have, end marks included, padding not.
        batches: that they make.
        largest: the batch that takes the most memory.
        assumed: whether this is a guess.
    """

    pairs: int
    source_tokens: int
    target_tokens: int
    batches: int
    largest: Shape
    assumed: bool


def work_of(cfg: DictConfig) -> Work:
    """An epoch of a config's corpus in batches of ``max_tokens``; the embedded corpus is prepared for it.

    Raises:
        UserError: for a corpus that is not prepared and of which no size is known.
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
    largest = Shape(cfg.max_tokens // TOKENS_A_SENTENCE, TOKENS_A_SENTENCE, TOKENS_A_SENTENCE, words, words)
    return Work(pairs, tokens, tokens, int(tokens / cfg.max_tokens / (1 - UNUSED)), largest, assumed=True)


def _counted(cfg: DictConfig, corpus: PreparedCorpus) -> Work:
    fairseq = to_fairseq(cfg, corpus.bin, Path("none"))
    task = tasks.setup_task(fairseq.task)
    task.load_dataset("train")
    data = task.dataset("train")
    batches = data.batch_by_size(
        data.ordered_indices(), max_tokens=fairseq.dataset.max_tokens, required_batch_size_multiple=1
    )
    lengths = [(len(batch), data.src_sizes[batch].max(), data.tgt_sizes[batch].max()) for batch in batches]
    sentences, source, target = max(lengths, key=lambda batch: batch[0] * (batch[1] + batch[2]))
    words = len(task.source_dictionary), len(task.target_dictionary)
    return Work(
        pairs=len(data),
        source_tokens=int(np.sum(data.src_sizes)),
        target_tokens=int(np.sum(data.tgt_sizes)),
        batches=len(batches),
        largest=Shape(int(sentences), int(source), int(target), *words),
        assumed=False,
    )
