"""100 sentences in, 100 out: in training, in validation and in generation."""

import math
from pathlib import Path

import pytest
import torch
from helpers import TINY
from omegaconf import OmegaConf

from lnexp.configuration import compose
from lnexp.corpora.prepare import prepare
from lnexp.plugin import task as plugin_task
from lnexp.runs.folder import RunFolder
from lnexp.tasks.contract import Member
from lnexp.tasks.translation.decoding import FirstSentences, translate
from lnexp.training.engine import Engine


@pytest.fixture
def engine(tmp_path, where) -> Engine:
    sizes = "scale.toy={train_pairs: 100, valid_pairs: 99, test_pairs: 101}"
    cfg = compose([*TINY, *where, sizes, "max_tokens=60", "max_epoch=1"])
    OmegaConf.resolve(cfg)
    folder = RunFolder(tmp_path / "run-00000000")
    folder.checkpoints.mkdir(parents=True)
    return Engine([Member(cfg, folder)], prepare(cfg.data, cfg.data_dir))


def ids(batches) -> list[int]:
    return sorted(index for batch in batches for index in batch["id"].tolist())


@pytest.mark.parametrize("multiple", [1, 8])
def test_training_sees_every_sentence_once(engine, multiple):
    engine.fairseq.dataset.required_batch_size_multiple = multiple  # what stock fairseq would ask for
    for epoch in (1, 2):
        batches = engine.trainer.get_train_iterator(epoch).next_epoch_itr(shuffle=True)
        assert ids(batches) == list(range(100))


def test_validation_sees_every_sentence_once(engine):
    batches = engine.trainer.get_valid_iterator("valid").next_epoch_itr(shuffle=False)
    assert ids(batches) == list(range(99))


def echo(engine, monkeypatch) -> None:
    """Let every hypothesis be its own source sentence."""
    dictionary = engine.task.source_dictionary
    special = (dictionary.pad(), dictionary.eos())

    def inference_step(generator, models, batch):
        rows = batch["net_input"]["src_tokens"]
        return [[{"tokens": torch.tensor([token for token in row if token not in special])}] for row in rows.tolist()]

    monkeypatch.setattr(engine.task, "inference_step", inference_step)
    monkeypatch.setattr(engine.task, "tgt_dict", dictionary)


@pytest.mark.parametrize(("count", "max_tokens"), [(0, 40), (0, 4000), (10, 40)])
def test_generation_keeps_every_sentence_and_their_order(engine, monkeypatch, count, max_tokens):
    echo(engine, monkeypatch)
    settings = engine.cfg.evaluation.copy()
    settings.max_tokens = max_tokens
    sentences = FirstSentences(engine.task.dataset("test"), count)
    hypotheses = translate(engine.task, engine.model, sentences, settings, beam=2, post_process=None)
    sources = engine.corpus.lines("test", "de")
    assert len(sources) == 101
    dictionary = engine.task.source_dictionary
    known = [dictionary.string(dictionary.encode_line(line, add_if_not_exist=False)) for line in sources]
    assert hypotheses == known[: count or None]


def test_real_generation_has_one_hypothesis_a_sentence(engine):
    sentences = FirstSentences(engine.task.dataset("test"), 0)
    assert len(translate(engine.task, engine.model, sentences, engine.cfg.evaluation, 2, None)) == 101


def test_a_whole_epoch_counts_every_target_token(engine):
    records = []
    folder = engine.members[0].folder
    engine.train(lambda member, record: (records.append(record), folder.append(record)))
    updates, record = records
    assert len(updates["train_loss"]) == record["update"]
    lines = engine.corpus.lines("train", "en")
    tokens = sum(len(line.split()) + 1 for line in lines)  # and the end of sentence
    assert record["tokens_per_second"] * record["seconds"] == pytest.approx(tokens, rel=0.01)
    assert math.isfinite(record["valid_loss"])
    assert Path(folder.saved.of_epoch(1)).exists()


def test_a_sentence_that_does_not_fit_is_an_error_not_a_gap(engine):
    engine.fairseq.dataset.max_tokens = 5
    with pytest.raises(Exception, match="invalid"):
        engine.trainer.get_train_iterator(1)


def order(engine) -> list[list[list[int]]]:
    """The sentences of each batch of the first two epochs, by epoch."""
    iterators = [engine.trainer.get_train_iterator(epoch).next_epoch_itr(shuffle=True) for epoch in (1, 2)]
    return [[batch["id"].tolist() for batch in iterator] for iterator in iterators]


def test_the_order_of_the_data_has_a_seed_of_its_own(engine):
    with_seed = order(engine)
    engine.fairseq.common.seed = 8
    assert order(engine) == with_seed, "the seed of everything else does not touch it"
    engine.task.cfg.order_seed = 9
    assert order(engine) != with_seed
    engine.fairseq.common.seed, engine.task.cfg.order_seed = 9, None
    by_seed = order(engine)
    engine.fairseq.common.seed, engine.task.cfg.order_seed = 1, 9
    assert order(engine) == by_seed, "without one it is that of everything"


@pytest.mark.parametrize("spread", [True, False])
def test_an_epoch_of_a_seed_is_none_of_the_next_seed(engine, monkeypatch, spread):
    if not spread:  # as fairseq does it
        monkeypatch.setattr(plugin_task, "far_apart", lambda seed: seed)
    engine.task.cfg.order_seed = 7
    second = order(engine)[1]
    engine.task.cfg.order_seed = 8
    assert (order(engine)[0] == second) is not spread
