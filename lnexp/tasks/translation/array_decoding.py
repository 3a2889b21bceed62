"""Translate a split with all members of an array at once."""

import math
from collections.abc import Sequence
from contextlib import suppress
from itertools import chain

import torch
from fairseq.data import FairseqDataset
from fairseq.tasks import FairseqTask
from omegaconf import DictConfig
from torch import Tensor

from lnexp.plugin.arrays.model import ArrayModel
from lnexp.tasks.translation.array_beam_search import BeamSearch
from lnexp.tasks.translation.decoding import batches_of
from lnexp.training.memory import release_memory

#: The largest number of hypotheses that are searched at once: the keys and values of all of them are kept, and a GPU's
#: attention kernels take no more than 65,535 rows.
MOST_ROWS = 2**14


@torch.no_grad()
def translate_array(
    task: FairseqTask,
    model: ArrayModel,
    sentences: FairseqDataset,
    settings: DictConfig,
    beam: int,
    post_process: str | None,
    wanted: Sequence[int],
) -> dict[int, list[str]]:
    """Return what :func:`lnexp.tasks.translation.decoding.translate` returns for each member, by number.

    Only the ``wanted`` members are searched with, and those whose scores are not finite are left out. A batch of more
    than :data:`MOST_ROWS` hypotheses, or one that the memory is too small for, is searched in parts, and so are the
    batches after it.
    """
    model.eval()
    search = BeamSearch(model, beam, settings.lenpen, settings.max_len_a, settings.max_len_b)
    found: list[dict[int, str]] = [{} for _ in range(model.members)]
    parts = 1
    for batch in batches_of(task, model, sentences, settings.max_tokens):
        sources = batch["net_input"]["src_tokens"], batch["net_input"]["src_lengths"]
        of_members, parts = _search(search, *sources, wanted, parts)
        for hypotheses, of_member in zip(found, of_members, strict=True):
            for index, tokens in zip(batch["id"].tolist(), of_member, strict=True):
                if tokens is not None:
                    hypotheses[index] = task.target_dictionary.string(tokens.tolist(), post_process)
    return {
        member: [hypotheses[index] for index in sorted(hypotheses)]
        for member, hypotheses in enumerate(found)
        if len(hypotheses) == len(sentences)
    }


def _search(
    search: BeamSearch, tokens: Tensor, lengths: Tensor, wanted: Sequence[int], parts: int
) -> tuple[list[list[Tensor | None]], int]:
    """Return the hypotheses of a batch, and the number of parts, at least ``parts``, that the memory was enough for."""
    sentences = max(1, MOST_ROWS // (search.model.members * search.beam))
    count = max(parts, math.ceil(len(tokens) / sentences))
    with suppress(torch.OutOfMemoryError):
        pieces = zip(tokens.chunk(count), lengths.chunk(count), strict=True)
        found = [search.search(*piece, wanted) for piece in pieces]
        return [list(chain(*of_member)) for of_member in zip(*found, strict=True)], parts
    if count >= len(tokens):
        raise torch.OutOfMemoryError("one sentence is too much")
    release_memory()
    return _search(search, tokens, lengths, wanted, 2 * count)
