"""Translate a split with fairseq's beam search."""

from argparse import Namespace
from collections.abc import Iterator
from typing import Any

import torch
from fairseq import utils
from fairseq.data import BaseWrapperDataset, FairseqDataset
from fairseq.models import BaseFairseqModel
from fairseq.tasks import FairseqTask
from omegaconf import DictConfig

from lnexp.training.ranks import ALONE, Ranks

NO_HYPOTHESIS = "translation finds no hypothesis: the model's scores are not finite"


class FirstSentences(BaseWrapperDataset):
    """The first ``count`` sentences of a dataset; all of them where ``count`` is 0.

    Each process has a share of them: the second of three has sentences 1, 4, 7, …
    """

    def __init__(self, dataset: FairseqDataset, count: int, ranks: Ranks = ALONE):
        super().__init__(dataset)
        self.count, self.ranks = min(count or len(dataset), len(dataset)), ranks

    def __len__(self) -> int:
        return len(range(self.ranks.rank, self.count, self.ranks.size))

    def ordered_indices(self):
        """Return indices from short to long sentences, so that batches have little padding."""
        indices = self.dataset.ordered_indices()
        return indices[(indices < self.count) & (indices % self.ranks.size == self.ranks.rank)]

    def merge(self, found: list[str] | FloatingPointError) -> list[str]:
        """Return the results of all processes, in the order of the dataset, on every process.

        Raises:
            FloatingPointError: where one of the processes found that error instead.
        """
        merged = [""] * self.count
        for rank, share in enumerate(self.ranks.gather(found)):
            if isinstance(share, FloatingPointError):
                raise share
            merged[rank :: self.ranks.size] = share
        return merged


@torch.no_grad()
def translate(
    task: FairseqTask,
    model: BaseFairseqModel,
    sentences: FirstSentences,
    settings: DictConfig,
    beam: int,
    post_process: str | None,
) -> list[str]:
    """Return the best hypothesis of each sentence, tokenised, in the order of the dataset.

    Each process searches its share of the sentences.

    Args:
        task: fairseq's, with the dictionaries.
        model: set to evaluation mode here.
        sentences: sentence pairs, of which only the sources are used.
        settings: the config group ``evaluation``: lenpen, max_len_a, max_len_b, max_tokens.
        beam: beam size; 1 is greedy.
        post_process: fairseq's name for how subwords are joined; None leaves them as they are.

    Raises:
        FloatingPointError: where the model's scores are not finite, so that no hypothesis is found.
    """
    search = Namespace(beam=beam, lenpen=settings.lenpen, max_len_a=settings.max_len_a, max_len_b=settings.max_len_b)
    try:
        found: list[str] | FloatingPointError = _search(
            task, model, sentences, search, settings.max_tokens, post_process
        )
    except FloatingPointError as error:
        found = error
    return sentences.merge(found)


def _search(
    task: FairseqTask,
    model: BaseFairseqModel,
    sentences: FirstSentences,
    search: Namespace,
    max_tokens: int,
    post_process: str | None,
) -> list[str]:
    """Return the hypotheses of this process's share."""
    model.eval()
    generator = task.build_generator([model], search)
    hypotheses = {}
    for batch in batches_of(task, model, sentences, max_tokens):
        try:
            found_in_batch = task.inference_step(generator, [model], batch)
        except AssertionError as error:  # how fairseq's search ends where no score is a number
            raise FloatingPointError(NO_HYPOTHESIS) from error
        for index, found in zip(batch["id"].tolist(), found_in_batch, strict=True):
            hypotheses[index] = task.target_dictionary.string(found[0]["tokens"].tolist(), post_process)
    return [hypotheses[index] for index in sorted(hypotheses)]


def batches_of(task: FairseqTask, model: BaseFairseqModel, sentences: FairseqDataset, max_tokens: int) -> Iterator[Any]:
    """Yield batches of sentences of about one length, on the model's device."""
    if not len(sentences):
        return
    iterator = task.get_batch_iterator(dataset=sentences, max_tokens=max_tokens, disable_iterator_cache=True)
    on_gpu = next(model.parameters()).is_cuda
    for batch in iterator.next_epoch_itr(shuffle=False):
        yield utils.move_to_cuda(batch) if on_gpu else batch
