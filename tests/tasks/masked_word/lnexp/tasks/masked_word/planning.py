"""Count the sentences that a run reads."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from fairseq import tasks
from fairseq.data import Dictionary
from omegaconf import DictConfig

from lnexp.corpora.prepare import prepare
from lnexp.fairseq_config import to_fairseq
from lnexp.planning.work import LargestBatch, Work
from lnexp.tasks.masked_word.fairseq_task import MaskedWordTask, batch_of


@dataclass(frozen=True)
class SentencesBatch(LargestBatch):
    """Sentences of one length."""

    length_of_each: int
    words: int

    @property
    def length(self) -> int:
        return self.length_of_each

    @property
    def tokens(self) -> int:
        return self.examples * self.length

    def fairseq_task(self, cfg: Any) -> MaskedWordTask:
        words = Dictionary()
        while len(words) < self.words:
            words.add_symbol(f"word{len(words)}")
        return MaskedWordTask(cfg, words)

    def draw(self, fairseq_task: Any, examples: int) -> dict[str, Any]:
        words = fairseq_task.source_dictionary
        rows = torch.randint(words.nspecial, self.words, (examples, self.length))
        return batch_of(list(rows), list(range(examples)), words)

    def output_layer(self, model: Any) -> Any:
        return model.encoder.layers[-1]


@dataclass(frozen=True)
class SentencesWork(Work):
    """An epoch of sentences."""

    sentences: int
    all_tokens: int

    @property
    def tokens(self) -> int:
        return self.all_tokens

    def text(self, max_tokens: int) -> str:
        return f"{self.sentences:,} sentences, {self.all_tokens:,} tokens, {self.batches:,} batches"


def work_of(cfg: DictConfig) -> SentencesWork:
    """Return an epoch of a config's corpus."""
    fairseq = to_fairseq(cfg, prepare(cfg.data, cfg.data_dir).bin, Path("none"))
    task = tasks.setup_task(fairseq.task)
    task.load_dataset("train")
    data = task.dataset("train")
    batches = data.batch_by_size(data.ordered_indices(), max_tokens=cfg.max_tokens)
    count, longest = max((len(batch), int(data.sizes[batch].max())) for batch in batches)
    largest = SentencesBatch(count, longest, len(task.source_dictionary))
    return SentencesWork(len(batches), largest, "", len(data), int(data.sizes.sum()))
