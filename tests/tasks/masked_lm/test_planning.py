"""A run of masked language modelling is planned by its corpus."""

import numpy as np
from helpers import TINY_CORPUS

from lnexp.configuration import compose
from lnexp.tasks.masked_lm import planning


class Blocks:
    """Many short blocks before few long ones, in fairseq's batches."""

    sizes = np.array([6] * 150 + [512] * 8)

    def __len__(self) -> int:
        return len(self.sizes)

    def ordered_indices(self) -> np.ndarray:
        return np.arange(len(self))

    def batch_by_size(self, indices, max_tokens, max_sentences):
        return [indices[:150], indices[150:]]


def test_the_largest_batch_is_that_of_the_most_tokens(prepared, monkeypatch):
    build = planning.build_task
    monkeypatch.setattr(planning, "build_task", lambda cfg: _with_blocks(build(cfg)))
    where = ["data=bert_toy", TINY_CORPUS, f"data_dir={prepared}"]
    work = planning.work_of(compose(["task=masked_lm", *where, "max_tokens=4096"]))
    assert (work.largest.examples, work.largest.length) == (8, 512)
    assert work.largest.tokens == 8 * 512


def _with_blocks(task):
    task.load_dataset = lambda split: task.datasets.update({split: Blocks()})
    task.dataset = task.datasets.__getitem__
    return task
