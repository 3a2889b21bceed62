"""Translating a split with all members of an array at once."""

from collections.abc import Sequence

import torch
from fairseq.data import FairseqDataset
from fairseq.tasks import FairseqTask
from omegaconf import DictConfig

from lnexp.plugin.arrays.model import ArrayModel
from lnexp.training.arrays.beam_search import BeamSearch
from lnexp.training.translate import batches_of


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
    """What :func:`lnexp.training.translate.translate` gives, by the number of the member.

    Of those that are ``wanted``, and without those whose scores are not finite.
    """
    model.eval()
    search = BeamSearch(model, beam, settings.lenpen, settings.max_len_a, settings.max_len_b)
    found: list[dict[int, str]] = [{} for _ in range(model.members)]
    for batch in batches_of(task, model, sentences, settings.max_tokens):
        sources = batch["net_input"]
        of_members = search.search(sources["src_tokens"], sources["src_lengths"], wanted)
        for hypotheses, of_member in zip(found, of_members, strict=True):
            for index, tokens in zip(batch["id"].tolist(), of_member, strict=True):
                if tokens is not None:
                    hypotheses[index] = task.target_dictionary.string(tokens.int(), post_process)
    return {
        member: [hypotheses[index] for index in sorted(hypotheses)]
        for member, hypotheses in enumerate(found)
        if len(hypotheses) == len(sentences)
    }
