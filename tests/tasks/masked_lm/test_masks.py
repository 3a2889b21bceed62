"""Masks of valid and test are the same in every epoch and for every seed, and those of train are not."""

from pathlib import Path

import pytest
from fairseq import tasks
from helpers import TINY_CORPUS

from lnexp.configuration import check_and_resolve, compose
from lnexp.fairseq_config import to_fairseq
from lnexp.tasks import task_of


def masks(prepared, split: str, *options: str) -> list[list[tuple[list[int], list[int]]]]:
    """Return what each block has, and what is to be predicted of it, in each of three epochs."""
    words = ["task=masked_lm", "data=bert_toy", TINY_CORPUS, "blocks.break_mode=eos", f"data_dir={prepared}", *options]
    cfg = check_and_resolve(compose(words))
    corpus = task_of(cfg).prepare(cfg.data, cfg.data_dir)
    task = tasks.setup_task(to_fairseq(cfg, corpus.bin, Path("none")).task)
    task.load_dataset(split)
    data, found = task.dataset(split), []
    for epoch in (1, 2, 3):
        data.set_epoch(epoch)
        found.append([(source.tolist(), target.tolist()) for _, source, target in map(data.__getitem__, range(20))])
    return found


@pytest.mark.parametrize("split", ["valid", "test"])
def test_what_is_measured_has_the_same_masks_in_every_epoch_and_run(prepared, split):
    first, *later = masks(prepared, split, "seed=1")
    assert later == [first, first]
    assert masks(prepared, split, "seed=2") == [first] * 3
    assert masks(prepared, split, "seed=1", "order_seed=7") == [first] * 3
    assert masks(prepared, split, "masking.held_out_seed=2")[0] != first


def test_what_is_trained_on_has_other_masks_in_every_epoch_and_for_every_seed(prepared):
    first, second, third = masks(prepared, "train", "seed=1")
    assert first != second != third != first
    assert masks(prepared, "train", "seed=1") == [first, second, third], "and the same in the same run"
    assert masks(prepared, "train", "seed=2")[0] != first
    assert masks(prepared, "train", "seed=2", "order_seed=1") == [first, second, third], (
        "members of an array share them"
    )
