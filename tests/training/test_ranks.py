"""Which of many processes this is, and what each has to do."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from omegaconf import OmegaConf

from lnexp.errors import UserError
from lnexp.tasks.translation.decoding import FirstSentences
from lnexp.training.ranks import ALONE, Ranks, of_environment
from lnexp.training.shares import share_out


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        ({}, ALONE),
        ({"RANK": "0", "WORLD_SIZE": "1", "LOCAL_RANK": "0"}, ALONE),
        ({"RANK": "5", "WORLD_SIZE": "16", "LOCAL_RANK": "1"}, Ranks(5, 16, 1)),
    ],
)
def test_the_environment_says_which_process_this_is(monkeypatch, said, expected):
    for name, value in said.items():
        monkeypatch.setenv(name, value)
    assert of_environment() == expected


@pytest.mark.parametrize("said", [{"RANK": "1"}, {"RANK": "-1", "WORLD_SIZE": "2"}, {"WORLD_SIZE": "two"}])
def test_what_torchrun_would_not_say_is_refused(monkeypatch, said):
    for name, value in said.items():
        monkeypatch.setenv(name, value)
    with pytest.raises(UserError, match="not what torchrun says"):
        of_environment()


def fairseq_config(*update_freq: int):
    training = {"distributed_world_size": 1, "distributed_rank": 0, "device_id": 0, "distributed_no_spawn": False}
    optimization = {"update_freq": list(update_freq)}
    return OmegaConf.create({"distributed_training": training, "optimization": optimization, "checkpoint": {}})


def test_an_update_has_the_same_batches_whatever_the_number_of_processes():
    for size in (1, 2, 4, 8, 16):
        cfg = fairseq_config(16, 32)
        share_out(cfg, Ranks(size - 1, size))
        assert [count * size for count in cfg.optimization.update_freq] == [16, 32]
        assert cfg.distributed_training.distributed_world_size == size


def test_batches_that_are_not_to_be_shared_are_refused():
    with pytest.raises(UserError, match=r"update_freq=6: .* among 4 processes; take 1, 2, 3, 6"):
        share_out(fairseq_config(6), Ranks(0, 4))


class Sentences:
    """A dataset of so many, the longest first."""

    def __init__(self, count: int):
        self.count = count

    def __len__(self) -> int:
        return self.count

    def ordered_indices(self):
        return np.arange(self.count)[::-1]


class Together(Ranks):
    """One of many, who knows what all of them found."""

    everyone: list

    def gather(self, value):
        return self.everyone


@given(st.integers(1, 40), st.integers(0, 45), st.integers(1, 9))
def test_every_sentence_is_translated_once_and_comes_back_in_its_place(total, count, size):
    shares = [FirstSentences(Sentences(total), count, Ranks(rank, size)) for rank in range(size)]
    found = [[f"sentence {index}" for index in sorted(share.ordered_indices())] for share in shares]
    assert [len(share) for share in shares] == [len(part) for part in found]
    wanted = min(count or total, total)
    for rank, share in enumerate(shares):
        together = Together(rank, size)
        object.__setattr__(together, "everyone", found)
        share.ranks = together
        assert share.merge(found[rank]) == [f"sentence {index}" for index in range(wanted)]


def test_what_one_finds_not_finite_is_so_for_all():
    together = Together(1, 2)
    object.__setattr__(together, "everyone", [FloatingPointError("no"), ["fine"]])
    with pytest.raises(FloatingPointError, match="no"):
        FirstSentences(Sentences(2), 0, together).merge(["fine"])
