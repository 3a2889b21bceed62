"""Translating a split with fairseq's beam search."""

from argparse import Namespace

import torch
from fairseq import utils
from fairseq.data import BaseWrapperDataset, FairseqDataset
from fairseq.models import BaseFairseqModel
from fairseq.tasks import FairseqTask
from omegaconf import DictConfig


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
    batches = task.get_batch_iterator(dataset=sentences, max_tokens=settings.max_tokens, disable_iterator_cache=True)
    dictionary = task.target_dictionary
    hypotheses = {}
    for batch in batches.next_epoch_itr(shuffle=False):
        if next(model.parameters()).is_cuda:
            batch = utils.move_to_cuda(batch)
        try:
            found_in_batch = task.inference_step(generator, [model], batch)
        except AssertionError as error:  # how fairseq's search ends where no score is a number
            raise FloatingPointError("translation finds no hypothesis: the model's scores are not finite") from error
        for index, found in zip(batch["id"].tolist(), found_in_batch, strict=True):
            tokens = found[0]["tokens"].int().cpu()
            hypotheses[index] = dictionary.string(tokens, post_process)
    return [hypotheses[index] for index in sorted(hypotheses)]
