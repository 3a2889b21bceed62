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


def test_a_block_of_one_sentence_is_none_that_divides_documents(tmp_path):
    for split, text in (("train", "a b\nc\n\nd e f\n"), ("valid", "c\n\na\n"), ("test", "a\n")):
        (tmp_path / f"{split}.en").write_text(text)
    words = ["task=masked_lm", "data=bert_plain", "subword=none", f"data.path={tmp_path}", "blocks.break_mode=eos"]
    cfg = check_and_resolve(compose([*words, f"data_dir={tmp_path / 'data'}", "masking.probability=0.01"]))
    task = tasks.setup_task(to_fairseq(cfg, task_of(cfg).prepare(cfg.data, cfg.data_dir).bin, Path("none")).task)
    for split, sentences in (("train", ["a b", "c", "d e f"]), ("valid", ["c", "a"])):
        task.load_dataset(split)
        data = task.dataset(split)
        assert data.sizes.tolist() == [len(sentence.split()) + 2 for sentence in sentences]
        assert len(data) == len(sentences)
        ordered = data.ordered_indices()
        assert sorted(ordered.tolist()) == list(range(len(sentences)))
        _, source, target = zip(*map(data.__getitem__, range(len(sentences))), strict=True)
        whole = (s.where(t == task.dictionary.pad(), t) for s, t in zip(source, target, strict=True))
        assert [task.dictionary.string(tokens[1:]) for tokens in whole] == sentences


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
