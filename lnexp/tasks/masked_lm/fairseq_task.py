"""The fairseq task ``lnexp_masked_lm``: fairseq's blocks and masks of tokens, without losing a block."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Optional

import numpy as np
import torch
from fairseq.data import (
    BaseWrapperDataset,
    Dictionary,
    FairseqDataset,
    MaskTokensDataset,
    PrependTokenDataset,
    TokenBlockDataset,
    data_utils,
)
from fairseq.tasks import register_task
from torch import Tensor

from lnexp.plugin.placement import option
from lnexp.plugin.task import TaskOptions
from lnexp.tasks.masked_lm.family import EncoderOnly
from lnexp.tasks.masked_lm.sequences import Sequences, SequencesTask


class Sentences(BaseWrapperDataset):
    """Sentences without the empty ones that divide documents, which have no word to predict.

    Args:
        dataset: with ``sizes``, in which every sentence ends with a token of its own.
    """

    def __init__(self, dataset: FairseqDataset):
        super().__init__(dataset)
        self._places = np.flatnonzero(np.asarray(dataset.sizes) > 1)

    def __len__(self) -> int:
        return len(self._places)

    def __getitem__(self, index: int) -> Tensor:
        return self.dataset[self._places[index]]

    @property
    def sizes(self) -> np.ndarray:
        """Tokens of each sentence."""
        return np.asarray(self.dataset.sizes)[self._places]

    def num_tokens(self, index: int) -> int:
        """Return the tokens of a sentence."""
        return int(self.sizes[index])

    size = num_tokens


class MaskedBlocks(Sequences):
    """Blocks of tokens, some of them hidden.

    Which ones follows from a seed, the block's number and, in training, the epoch.

    Args:
        source: the blocks with words hidden.
        target: the same with padding wherever no word is to be predicted.
        sizes: tokens of each block.
        words: the dictionary.
    """

    def __init__(self, source: FairseqDataset, target: FairseqDataset, sizes: np.ndarray, words: Dictionary):
        super().__init__(sizes, words)
        self.source, self.target = source, target

    def __getitem__(self, index: int) -> tuple[int, Tensor, Tensor]:
        return index, self.source[index], self.target[index]

    def set_epoch(self, epoch: int) -> None:
        """Draw the masks of an epoch, from 1."""
        super().set_epoch(epoch)
        if self.shuffle:
            self.source.set_epoch(epoch)
            self.target.set_epoch(epoch)

    def collater(self, samples: Sequence[tuple[int, Tensor, Tensor]]) -> dict[str, Any]:
        """Return blocks as a batch of fairseq's."""
        return batch_of(samples, self.words)


def batch_of(samples: Sequence[tuple[int, Tensor, Tensor]], words: Dictionary) -> dict[str, Any]:
    """Return a batch; its ``ntokens`` are the words to predict, by which fairseq divides the loss.

    Args:
        samples: number, tokens ``(time,)`` and targets ``(time,)`` of each block.
        words: the dictionary.
    """
    if not samples:
        return {}
    numbers, sources, targets = zip(*samples, strict=True)
    source, target = (data_utils.collate_tokens(rows, words.pad(), left_pad=False) for rows in (sources, targets))
    return {
        "id": torch.tensor(numbers),
        "net_input": {"src_tokens": source, "src_lengths": torch.tensor([len(row) for row in sources])},
        "target": target,
        "ntokens": int(target.ne(words.pad()).sum()),
        "nsentences": len(samples),
    }


@dataclass
class MaskedLmOptions(TaskOptions):
    """Which text is read, how it is packed, and what is hidden; names are those of fairseq's ``masked_lm``."""

    data: str = option("", "folder of the binarised corpus")
    source_lang: str = option("", "its first language")
    target_lang: Optional[str] = option(None, "its second language, which is read; none: the first is")  # noqa: UP045
    tokens_per_sample: int = option(512, "tokens of a block")
    sample_break_mode: str = option("complete", "none|complete|complete_doc|eos: where a block ends")
    mask_prob: float = option(0.15, "share of words that are predicted")
    leave_unmasked_prob: float = option(0.1, "share of those that stay")
    random_token_prob: float = option(0.1, "share of those that become a random word")
    mask_seed: int = option(1, "seed of the masks of valid and test")
    max_source_positions: int = option(1024, "tokens of a block, at most")
    max_target_positions: int = option(1024, "the same")
    train_subset: str = "train"


@register_task("lnexp_masked_lm", dataclass=MaskedLmOptions)
class MaskedLmTask(SequencesTask):
    """Predict the hidden words of blocks of text."""

    family = EncoderOnly

    def load_dataset(self, split: str, *_: Any, **__: Any) -> None:
        """Load a split; blocks, order and masks of all but the training data are always the same."""
        cfg, words = self.cfg, self.dictionary
        languages = [language for language in (cfg.source_lang, cfg.target_lang) if language]
        path = Path(cfg.data) / f"{split}.{'-'.join(languages)}.{languages[-1]}"
        sentences = data_utils.load_indexed_dataset(str(path), words)
        blocks = self.packed(sentences)
        begun = PrependTokenDataset(blocks, words.bos())
        trains = split == cfg.train_subset
        seed = cfg.order_seed if trains and cfg.order_seed is not None else cfg.mask_seed
        self.datasets[split] = self.masked(begun, begun.sizes, seed)
        self.datasets[split].shuffle = trains

    def packed(self, sentences: Any) -> Any:
        """Return sentences as blocks, by fairseq's rules."""
        cfg, words = self.cfg, self.dictionary
        if cfg.sample_break_mode == "eos":  # fairseq asks numpy for a type that numpy 2 does not have
            return Sentences(sentences)
        return TokenBlockDataset(
            sentences,
            sentences.sizes,
            cfg.tokens_per_sample - 1,  # one more begins the block
            pad=words.pad(),
            eos=words.eos(),
            break_mode=cfg.sample_break_mode,
        )

    def masked(self, blocks: Any, sizes: np.ndarray, seed: int) -> MaskedBlocks:
        """Return blocks with words hidden, by fairseq's rules.

        ``MaskTokensDataset.apply_mask`` would put a cache before them that keeps a block's masks into the next epoch.
        """
        cfg = self.cfg
        source, target = (
            MaskTokensDataset(
                blocks,
                self.dictionary,
                pad_idx=self.dictionary.pad(),
                mask_idx=self.mask,
                return_masked_tokens=targets,
                seed=seed,
                mask_prob=cfg.mask_prob,
                leave_unmasked_prob=cfg.leave_unmasked_prob,
                random_token_prob=cfg.random_token_prob,
            )
            for targets in (False, True)
        )
        return MaskedBlocks(source, target, np.asarray(sizes), self.dictionary)
