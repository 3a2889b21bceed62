"""Translating a split with fairseq's beam search."""

from argparse import Namespace
from collections.abc import Iterator
from typing import Any

import torch
from fairseq import utils
from fairseq.data import BaseWrapperDataset, FairseqDataset
from fairseq.models import BaseFairseqModel
from fairseq.tasks import FairseqTask
from omegaconf import DictConfig

NO_HYPOTHESIS = "translation finds no hypothesis: the model's scores are not finite"


class FirstSentences(BaseWrapperDataset):
    """The first ``count`` sentences of a dataset; all of them where ``count`` is 0."""

    def __init__(self, dataset: FairseqDataset, count: int):
        super().__init__(dataset)
        self.count = min(count or len(dataset), len(dataset))

    def __len__(self) -> int:
        return self.count

    def ordered_indices(self):
        """Indices from short to long, so that a batch pads little."""
        indices = self.dataset.ordered_indices()
        return indices[indices < self.count]


@torch.no_grad()
def translate(
    task: FairseqTask,
    model: BaseFairseqModel,
    sentences: FairseqDataset,
    settings: DictConfig,
    beam: int,
    post_process: str | None,
) -> list[str]:
    """The best hypothesis of each sentence, tokenised, in the order of the dataset.

    Args:
        task: has the dictionaries.
        model: is set to evaluation mode.
        sentences: a dataset of sentence pairs; only its sources are used.
        settings: the config group ``evaluation``: lenpen, max_len_a, max_len_b, max_tokens.
        beam: beam size; 1 is greedy.
        post_process: how subwords are joined, by fairseq's name for it; None leaves them.

    Raises:
        FloatingPointError: where the model's scores are not finite, so that no hypothesis is found.
    """
    model.eval()
    search = Namespace(beam=beam, lenpen=settings.lenpen, max_len_a=settings.max_len_a, max_len_b=settings.max_len_b)
    generator = task.build_generator([model], search)
    dictionary = task.target_dictionary
    hypotheses = {}
    for batch in batches_of(task, model, sentences, settings.max_tokens):
        try:
            found_in_batch = task.inference_step(generator, [model], batch)
        except AssertionError as error:  # how fairseq's search ends where no score is a number
            raise FloatingPointError(NO_HYPOTHESIS) from error
        for index, found in zip(batch["id"].tolist(), found_in_batch, strict=True):
            tokens = found[0]["tokens"].int().cpu()
            hypotheses[index] = dictionary.string(tokens, post_process)
    return [hypotheses[index] for index in sorted(hypotheses)]


def batches_of(task: FairseqTask, model: BaseFairseqModel, sentences: FairseqDataset, max_tokens: int) -> Iterator[Any]:
    """Batches of sentences of about one length, where the model is."""
    iterator = task.get_batch_iterator(dataset=sentences, max_tokens=max_tokens, disable_iterator_cache=True)
    on_gpu = next(model.parameters()).is_cuda
    for batch in iterator.next_epoch_itr(shuffle=False):
        yield utils.move_to_cuda(batch) if on_gpu else batch
