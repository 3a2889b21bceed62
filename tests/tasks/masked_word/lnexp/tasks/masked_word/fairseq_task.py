"""The fairseq task ``lnexp_masked_word`` and its data."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from fairseq.data import Dictionary, FairseqDataset, data_utils
from fairseq.tasks import FairseqTask, register_task

from lnexp.plugin.placement import option
from lnexp.plugin.task import EveryExampleOnce, TaskOptions
from lnexp.tasks.masked_word.family import EncoderOnly


class MaskedSentences(FairseqDataset):
    """Sentences of which one word each, the same in every epoch, is hidden: it is the target at its position."""

    shuffle = True

    def __init__(self, sentences, words):
        self.sentences, self.words, self.sizes = sentences, words, np.asarray(sentences.sizes)

    def __len__(self):
        return len(self.sentences)

    def __getitem__(self, index):
        return index

    def num_tokens(self, index):
        return self.sizes[index]

    def size(self, index):
        return self.sizes[index]

    def ordered_indices(self):
        return np.random.permutation(len(self)) if self.shuffle else np.arange(len(self))

    def collater(self, indices):
        if not indices:
            return {}
        return batch_of([self.sentences[index] for index in indices], indices, self.words)


def batch_of(sentences, numbers, words):
    """Return sentences as a batch, the word of each that its number chooses hidden."""
    hidden, targets = [], []
    for sentence, number in zip(sentences, numbers, strict=True):
        place = number % (len(sentence) - 1)  # the last one is the end mark
        hidden.append(sentence.clone())
        targets.append(torch.full_like(sentence, words.pad()))
        targets[-1][place] = sentence[place]
        hidden[-1][place] = words.unk()
    source, target = (data_utils.collate_tokens(rows, words.pad(), left_pad=False) for rows in (hidden, targets))
    lengths = torch.tensor([len(sentence) for sentence in sentences])
    net_input = {"src_tokens": source, "src_lengths": lengths}
    count = len(sentences)  # one word of each is told
    return {
        "id": torch.tensor(numbers),
        "net_input": net_input,
        "target": target,
        "ntokens": count,
        "nsentences": count,
    }


@dataclass
class MaskedWordOptions(TaskOptions):
    """Where the corpus lies, and which of its sides is read."""

    data: str = option("", "folder of the binarised corpus")
    pair: str = option("", "its languages, as de-en")
    language: str = option("", "the side that is read")
    max_source_positions: int = option(1024, "tokens of a sentence, at most")
    max_target_positions: int = option(1024, "tokens of a sentence, at most")
    train_subset: str = "train"


@register_task("lnexp_masked_word", dataclass=MaskedWordOptions)
class MaskedWordTask(EveryExampleOnce, FairseqTask):
    """Tell the hidden word of every sentence."""

    family = EncoderOnly
    source_dictionary = target_dictionary = None  # fairseq declares them as properties

    def __init__(self, cfg, words):
        super().__init__(cfg)
        self.source_dictionary = self.target_dictionary = words

    @classmethod
    def setup_task(cls, cfg, **_):
        return cls(cfg, Dictionary.load(str(Path(cfg.data) / f"dict.{cfg.language}.txt")))

    def load_dataset(self, split, **_):
        path = Path(self.cfg.data) / f"{split}.{self.cfg.pair}.{self.cfg.language}"
        sentences = data_utils.load_indexed_dataset(str(path), self.source_dictionary)
        self.datasets[split] = MaskedSentences(sentences, self.source_dictionary)

    def max_positions(self):
        return self.cfg.max_source_positions
