"""A second family of models, with a task of its own: nothing of the plugin has to change for it."""

import math
import runpy
from dataclasses import dataclass
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from fairseq import criterions
from fairseq.data import FairseqDataset, data_utils
from fairseq.logging import metrics
from fairseq.optim import build_optimizer
from fairseq.tasks import FairseqTask
from helpers import ROOT
from omegaconf import OmegaConf
from small_models import array_of, model_of

from lnexp.plugin.task import EveryExampleOnce, TaskOptions

#: The family of ``tests/tasks/masked_word``.
EncoderOnly = runpy.run_path(str(ROOT / "tests/tasks/masked_word/lnexp/tasks/masked_word/family.py"))["EncoderOnly"]
SEEDS = (3, 4)
UPDATES = 4
SENTENCES = 45  # no multiple of 8


class Sentences(FairseqDataset):
    """Sentences of random words; each word is to be told from itself and its neighbours."""

    shuffle = True

    def __init__(self, words):
        generator = torch.Generator().manual_seed(1)
        self.words = words
        self.sizes = torch.randint(3, 9, (SENTENCES,), generator=generator).numpy()
        self.rows = [torch.randint(4, len(words), (size,), generator=generator) for size in self.sizes]

    def __len__(self):
        return len(self.rows)

    def __getitem__(self, index):
        return index

    def num_tokens(self, index):
        return self.sizes[index]

    def size(self, index):
        return self.sizes[index]

    def ordered_indices(self):
        return np.random.permutation(len(self)) if self.shuffle else np.arange(len(self))

    def collater(self, indices):
        rows = data_utils.collate_tokens([self.rows[index] for index in indices], self.words.pad(), left_pad=False)
        lengths = torch.tensor([len(self.rows[index]) for index in indices])
        net_input = {"src_tokens": rows, "src_lengths": lengths}
        tokens = int(lengths.sum())
        return {"id": indices, "net_input": net_input, "target": rows, "ntokens": tokens, "nsentences": len(rows)}


@dataclass
class TellOptions(TaskOptions):
    """Options of :class:`EveryWordOnce`."""

    train_subset: str = "train"


class Tell(FairseqTask):
    """Tell each word of a sentence."""

    source_dictionary = target_dictionary = None  # fairseq declares them as properties

    def __init__(self, words):
        super().__init__(TellOptions())
        self.source_dictionary = self.target_dictionary = words

    def load_dataset(self, split, **_):
        self.datasets[split] = Sentences(self.source_dictionary)


class EveryWordOnce(EveryExampleOnce, Tell):
    """The task as it is in lnexp, with its family."""

    family = EncoderOnly


@pytest.fixture
def tell(task: SimpleNamespace) -> EveryWordOnce:
    """The task, with its data loaded."""
    made = EveryWordOnce(task.source_dictionary)
    for split in ("train", "valid"):
        made.load_dataset(split)
    return made


@pytest.fixture(autouse=True)
def fresh_meters():
    """fairseq's meters are the process's."""
    metrics.reset()


def batches(task, split, epoch=1, **options):
    data = task.dataset(split)
    iterator = task.get_batch_iterator(data, max_tokens=60, epoch=epoch, disable_iterator_cache=True, **options)
    return list(iterator.next_epoch_itr(shuffle=True))


def single(task, placement, seed):
    return model_of(placement, task, seed).train()


def array(task, placement):
    return array_of(placement, task, SEEDS).train()


def losses(task, model, criterion, optimizer, log):
    """Make some updates, as fairseq's trainer does; what each logs as ``log``, a token."""
    criterion = criterions.build_criterion(OmegaConf.create(criterion), task)
    optimizer = build_optimizer(OmegaConf.create(optimizer), list(model.parameters()))
    found = []
    for update, sample in enumerate(batches(task, "train")[:UPDATES]):
        optimizer.zero_grad()
        _, size, logged = task.train_step(sample, model, criterion, optimizer, update)
        optimizer.multiply_grads(1 / size)
        optimizer.clip_grad_norm(0.5)
        optimizer.step()
        found.append(torch.as_tensor(logged[log]) / size)
    return torch.stack(found)


@pytest.mark.parametrize("placement", ["pre_ln", "post_ln", "admin", "residual"])
def test_an_encoder_trains_alone_and_in_an_array(placement, tell):
    adam = {"_name": "lnexp_adam", "lr": [0.01]}
    smoothed = {"_name": "label_smoothed_cross_entropy", "label_smoothing": 0.1, "sentence_avg": False}
    alone = [losses(tell, single(tell, placement, seed), smoothed, adam, "loss") for seed in SEEDS]
    members = {"_name": "lnexp_array", "members": [adam, adam]}
    criterion = {"_name": "lnexp_array", "label_smoothing": 0.1}
    together = losses(tell, array(tell, placement), criterion, members, "member_loss")
    torch.testing.assert_close(together, torch.stack(alone, dim=1), rtol=1e-5, atol=1e-5)
    assert together[-1].lt(together[0]).all(), "it learns"


def test_a_mode_is_that_of_every_module(tell):
    model = single(tell, "pre_ln", 1).eval()
    assert not any(module.training for module in model.modules())
    model.encoder.layers[0].train()
    assert model.train().training
    assert all(module.training for module in model.modules())
    model.encoder.layers[0].eval()
    assert all(module.training for module in model.train().modules())


def test_a_model_is_of_the_family_that_its_task_names(tell, task):
    model = single(tell, "pre_ln", 1)
    assert isinstance(model, EncoderOnly)
    assert {layer.placement.where.decoder_layers for layer in model.encoder.layers} == {0}
    assert not any(name.startswith("decoder") for name, _ in model.named_parameters())
    assert hasattr(single(task, "pre_ln", 1), "decoder"), "an encoder-decoder without a name"
    assert list(array(tell, "pre_ln").state_dict()) == list(model.state_dict())


@pytest.mark.parametrize("placement", ["deep_norm", "sub_ln"])
def test_constants_of_an_encoder_alone_are_those_of_its_layers_in_an_array_too(placement, tell):
    model = single(tell, placement, 1)
    constants = [vars(layer.placement) for layer in (*model.encoder.layers, *array(tell, placement).encoder.layers)]
    n = len(model.encoder.layers)
    expected = {"deep_norm": ("alpha", (2 * n) ** 0.25), "sub_ln": ("gamma", math.log(2 * n) ** 0.5)}[placement]
    assert [found[expected[0]] for found in constants] == [pytest.approx(expected[1])] * 2 * n


def ids(found):
    return sorted(index for batch in found for index in batch["id"])


@pytest.mark.parametrize("split", ["train", "valid"])
def test_every_example_is_in_one_batch(split, tell):
    assert ids(batches(tell, split, required_batch_size_multiple=8)) == list(range(SENTENCES))


def test_an_example_that_does_not_fit_is_an_error(tell):
    with pytest.raises(Exception, match="invalid"):
        batches(tell, "train", max_positions=5)


def order(found):
    return [batch["id"] for batch in found]


def test_only_training_data_have_an_order_of_each_epoch(tell):
    assert order(batches(tell, "train")) != order(batches(tell, "train", epoch=2))
    first, second = (sorted(order(batches(tell, "valid", epoch=epoch))) for epoch in (1, 2))
    assert first == second


def test_the_order_has_a_seed_of_its_own(tell):
    by_seed = order(batches(tell, "train", seed=8))
    tell.cfg.order_seed = 9
    assert order(batches(tell, "train", seed=8)) == order(batches(tell, "train", seed=7)) != by_seed
