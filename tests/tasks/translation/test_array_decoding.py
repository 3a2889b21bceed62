"""The hypotheses are fairseq's."""

import math
from argparse import Namespace

import pytest
import torch
from helpers import TINY
from omegaconf import OmegaConf

from lnexp.configuration import compose
from lnexp.corpora.prepare import prepare
from lnexp.runs.folder import RunFolder
from lnexp.tasks.contract import Member
from lnexp.tasks.translation import array_decoding
from lnexp.tasks.translation.array_beam_search import BeamSearch
from lnexp.tasks.translation.array_decoding import translate_array
from lnexp.tasks.translation.decoding import FirstSentences, translate
from lnexp.training.engine import Engine
from lnexp.training.models.array import ArrayModels
from lnexp.training.models.array_checkpoints import member_model

pytestmark = pytest.mark.slow

SEEDS = (1, 2, 3)


@pytest.fixture(scope="module")
def engines(tmp_path_factory, prepared):
    """An array of models that have learnt a little, so that some hypotheses end early and some never."""
    root = tmp_path_factory.mktemp("engines")
    cfgs = []
    for seed in SEEDS:
        cfg = compose([*TINY, f"data_dir={prepared}", "lr_max=1e-2", "max_epoch=8", f"seed={seed}", "order_seed=1"])
        OmegaConf.resolve(cfg)
        cfgs.append(cfg)
    folders = [RunFolder(root / f"run-{seed:08}") for seed in SEEDS]
    for folder in folders:
        folder.checkpoints.mkdir(parents=True)
    corpus = prepare(cfgs[0].data, cfgs[0].data_dir)
    members = list(map(Member, cfgs, folders))
    array = Engine(members, corpus, ArrayModels)
    array.train()
    return array, Engine(members[:1], corpus)


@pytest.mark.parametrize("beam", [1, 2, 5])
@pytest.mark.parametrize(("lenpen", "max_len_a", "max_len_b"), [(1.0, 1.2, 10), (0.6, 0, 3), (2.0, 0, 1)])
@pytest.mark.parametrize("max_tokens", [60, 4096])
def test_hypotheses_are_those_of_fairseq(engines, beam, lenpen, max_len_a, max_len_b, max_tokens):
    array, single = engines
    settings = Namespace(lenpen=lenpen, max_len_a=max_len_a, max_len_b=max_len_b, max_tokens=max_tokens)
    sentences = FirstSentences(array.task.dataset("test"), 0)
    mine = translate_array(array.task, array.model, sentences, settings, beam, None, [0, 1, 2])
    assert sorted(mine) == [0, 1, 2]
    for member in mine:
        single.model.load_state_dict(member_model(array.model, member))
        theirs = translate(single.task, single.model, sentences, settings, beam, None)
        assert mine[member] == theirs
    assert len({tuple(hypotheses) for hypotheses in mine.values()}) > 1, "members differ"


def translated(array, beam: int, max_tokens: int = 4096) -> dict[int, list[str]]:
    """The test set by every member."""
    settings = Namespace(lenpen=1.0, max_len_a=1.2, max_len_b=10, max_tokens=max_tokens)
    sentences = FirstSentences(array.task.dataset("test"), 0)
    return translate_array(array.task, array.model, sentences, settings, beam, None, [0, 1, 2])


@pytest.fixture
def searched(monkeypatch):
    """How many sentences each search began with; more than ``searched.most`` are too many for the memory."""

    class Sizes(list):
        most = math.inf

    sizes, search = Sizes(), BeamSearch.search

    def counted(self, tokens, *others):
        sizes.append(len(tokens))
        if len(tokens) > sizes.most:
            raise torch.OutOfMemoryError
        return search(self, tokens, *others)

    monkeypatch.setattr(BeamSearch, "search", counted)
    return sizes


def test_a_member_without_scores_is_left_out(engines):
    array, _ = engines
    whole = translated(array, beam=2)
    kept = array.model.output_weight.detach().clone()
    with torch.no_grad():
        array.model.output_weight[1] = torch.nan
    try:
        without = translated(array, beam=2)
    finally:
        array.model.output_weight.data.copy_(kept)
    assert without == {0: whole[0], 2: whole[2]}


@pytest.mark.parametrize("most", [1, 3, 7])
def test_a_batch_that_the_memory_is_too_small_for_is_searched_in_parts(engines, searched, most):
    array, _ = engines
    whole = translated(array, beam=2)
    assert max(searched) > most
    searched.most = most
    assert translated(array, beam=2) == whole


@pytest.mark.parametrize("most", [1, 40])
def test_no_more_hypotheses_are_searched_at_once_than_a_gpu_takes(engines, searched, monkeypatch, most):
    array, _ = engines
    whole = translated(array, beam=5, max_tokens=60)
    searched.clear()
    monkeypatch.setattr(array_decoding, "MOST_ROWS", most)
    assert translated(array, beam=5, max_tokens=60) == whole
    assert max(searched) == max(1, most // (5 * len(SEEDS)))


def test_a_sentence_that_the_memory_is_too_small_for_is_an_error(engines, searched):
    array, _ = engines
    searched.most = 0
    with pytest.raises(torch.OutOfMemoryError):
        translated(array, beam=2)
