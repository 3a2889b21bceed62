"""What one batch costs a run: measured on a few sentences here, and scaled up."""

import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from fairseq import utils
from fairseq.data import Dictionary
from fairseq.data.language_pair_dataset import collate
from omegaconf import DictConfig
from torch.utils._pytree import tree_leaves
from torch.utils.flop_counter import FlopCounterMode

from lnexp.fairseq_config import to_fairseq
from lnexp.planning.live_memory import LiveMemory, resting_bytes
from lnexp.plugin.translation import LnexpTranslationTask
from lnexp.training.trainer import Trainer

#: As many tokens a side as show what a batch takes; what it takes grows with their number from there on.
ENOUGH = 256


@dataclass(frozen=True)
class Shape:
    """Sentences of a batch, tokens of each, and how many words there are to choose from.

    Attributes:
        sentences: in the batch.
        source, target: tokens of each sentence, end mark included.
        source_words, target_words: sizes of the dictionaries.
    """

    sentences: int
    source: int
    target: int
    source_words: int
    target_words: int


@dataclass(frozen=True)
class Step:
    """What a run's largest batches cost.

    Attributes:
        parameters: of the model.
        flops: of a pass over a batch, forward and backward; matrix products alone.
        operations: that it starts.
        traffic: bytes that these read and write.
        resting: bytes that are there between updates: parameters, their copies, what the optimizer keeps.
        memory: bytes at the peak of an update.
        gradient_bytes: of the gradients of all parameters.
        checkpoint: bytes of what is saved.
        seconds: that a pass took here, scaled to the batch.
    """

    parameters: int
    flops: float
    operations: int
    traffic: float
    resting: int
    memory: int
    gradient_bytes: int
    checkpoint: int
    seconds: float


def measure(cfg: DictConfig, shape: Shape, batches_of_an_update: int = 1) -> Step:
    """Train on a part of a batch, and scale to all of it.

    Memory and arithmetic grow linearly with the sentences of a batch; two sizes give the line. Nothing is read: the
    sentences are drawn.

    Args:
        cfg: our resolved config, which says model, optimizer and precision.
        shape: of the whole batch.
        batches_of_an_update: that a process adds up the gradients of.
    """
    before = resting_bytes()
    trainer = _trainer(cfg, shape)
    large = max(min(shape.sentences, ENOUGH // max(shape.source, shape.target)), 1)
    small = max(large // 2, 1)
    batches = {sentences: _batch(trainer.task, shape, sentences) for sentences in (small, large)}
    trainer.train_step([batches[small]])  # the optimizer now has what it keeps
    trainer.zero_grad()
    resting = resting_bytes() - before
    _pass(trainer, batches[small])
    gradients = _bytes([parameter.grad for parameter in trainer.get_model().parameters()])
    passes = {sentences: _watched_pass(trainer, batch) for sentences, batch in batches.items()}
    with LiveMemory() as update:
        trainer.clip_grad_norm(trainer.cfg.optimization.clip_norm)
        trainer.optimizer.step()

    def at_full_size(least: float, most: float) -> float:
        slope = (most - least) / (large - small) if large > small else most / large
        return most + slope * (shape.sentences - large)

    first, last = passes[small], passes[large]
    kept = gradients if batches_of_an_update > 1 else 0  # those of an update's earlier batches
    return Step(
        parameters=sum(parameter.numel() for parameter in trainer.get_model().parameters()),
        flops=at_full_size(first.flops, last.flops),
        operations=last.operations,
        traffic=at_full_size(first.traffic, last.traffic),
        resting=resting,
        memory=resting + int(max(kept + at_full_size(first.memory, last.memory), gradients + update.peak)),
        gradient_bytes=gradients,
        checkpoint=_bytes([trainer.get_model().state_dict(), trainer.optimizer.state_dict()]),
        seconds=_seconds(trainer, batches[large]) * shape.sentences / large,
    )


@dataclass(frozen=True)
class _Watched:
    """A pass over a batch; ``memory`` is beyond what was there before."""

    flops: float
    operations: int
    traffic: int
    memory: int


def _watched_pass(trainer: Any, batch: dict[str, Any]) -> _Watched:
    """Its memory is that of the moment when a large batch takes the most: with all that is kept for the way back, and
    the scores of all words with their gradients. (A small one takes the most at its end, for the words' own gradients.)
    """
    peaks: list[int] = []
    with FlopCounterMode(display=False) as counter, LiveMemory() as live:
        output = trainer.get_model().decoder.output_projection
        hook = output.register_full_backward_hook(lambda *_: peaks.append(live.peak))
        _pass(trainer, batch)
        hook.remove()
    return _Watched(counter.get_total_flops(), live.operations, live.traffic, *peaks)


def _pass(trainer: Any, batch: dict[str, Any]) -> None:
    """Forward and backward over a batch; gradients are added to those that there are."""
    sample, _ = trainer._prepare_sample(batch)
    trainer.task.train_step(sample, trainer.model.train(), trainer.criterion, trainer.optimizer, update_num=1)


def _trainer(cfg: DictConfig, shape: Shape) -> Any:
    nowhere = Path("none")  # nothing is read or saved
    fairseq = to_fairseq(cfg, nowhere, nowhere)
    if "total_updates" in fairseq.lr_scheduler:
        fairseq.lr_scheduler.total_updates = fairseq.lr_scheduler.total_updates or 10**9
    utils.set_torch_seed(cfg.seed)
    words = [_dictionary(count) for count in (shape.source_words, shape.target_words)]
    task = LnexpTranslationTask(fairseq.task, *words)
    return Trainer(fairseq, task, task.build_model(fairseq.model), task.build_criterion(fairseq.criterion))


def _dictionary(words: int) -> Dictionary:
    dictionary = Dictionary()
    while len(dictionary) < words:
        dictionary.add_symbol(f"word{len(dictionary)}")
    return dictionary


def _batch(task: Any, shape: Shape, sentences: int) -> dict[str, Any]:
    """Sentences of words drawn at random, as fairseq's batches have them."""
    first = task.source_dictionary.nspecial

    def draw(length: int, words: int) -> torch.Tensor:
        drawn = torch.randint(first, words, (length,))
        drawn[-1] = task.source_dictionary.eos()
        return drawn

    pairs = [
        {"id": i, "source": draw(shape.source, shape.source_words), "target": draw(shape.target, shape.target_words)}
        for i in range(sentences)
    ]
    padding, end = task.source_dictionary.pad(), task.source_dictionary.eos()
    return collate(pairs, padding, end)


def _bytes(things: Any) -> int:
    """Of the tensors in nested containers; what two of them share, once."""
    storages = [leaf.untyped_storage() for leaf in tree_leaves(things) if isinstance(leaf, torch.Tensor)]
    return sum({storage.data_ptr(): storage.nbytes() for storage in storages}.values())


def _seconds(trainer: Any, batch: dict[str, Any]) -> float:
    """Of one pass."""
    began = time.perf_counter()
    _pass(trainer, batch)
    if trainer.cuda:
        torch.cuda.synchronize()
    return time.perf_counter() - began
