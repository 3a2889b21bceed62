"""Measure what one batch costs a run: on a few examples, scaled up."""

import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from fairseq import utils
from omegaconf import DictConfig
from torch import nn
from torch.utils._pytree import tree_leaves
from torch.utils.flop_counter import FlopCounterMode

from lnexp.fairseq_config import build_criterion, build_model, to_fairseq
from lnexp.planning.live_memory import LiveMemory, resting_bytes
from lnexp.planning.work import LargestBatch
from lnexp.plugin.warmup_schedule import set_end
from lnexp.training.trainer import Trainer

#: Tokens of the larger part that is measured: from there on, what a batch takes grows linearly with its examples.
ENOUGH = 256
#: An update after those that are measured, for schedules that end with the run.
FAR_AWAY = 10**9


@dataclass(frozen=True)
class Step:
    """The cost of a run's largest batch.

    Attributes:
        parameters: how many the model has.
        flops: floating point operations of a forward and backward pass, in matrix products alone.
        operations: how many PyTorch operations such a pass starts.
        traffic: bytes that these read and write.
        resting: bytes in use between updates: parameters, their copies, the optimizer's state.
        memory: bytes in use at the peak of an update.
        gradient_bytes: bytes of the gradients of all parameters.
        checkpoint: bytes of a checkpoint.
        seconds: time of a pass on the available device, scaled to the whole batch.
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


def measure(cfg: DictConfig, batch: LargestBatch, batches_of_an_update: int = 1) -> Step:
    """Return what a batch costs, from training on two parts of it: memory and arithmetic grow linearly with examples.

    Nothing is read from disk: the examples are drawn at random.

    Args:
        cfg: the run's resolved config, which states model, optimizer and precision.
        batch: the largest one of the run.
        batches_of_an_update: how many batches a process adds up the gradients of.
    """
    before = resting_bytes()
    trainer = _trainer(cfg, batch)
    large = max(min(batch.examples, ENOUGH // batch.length), 1)
    small = max(large // 2, 1)
    parts = {examples: batch.draw(trainer.task, examples) for examples in (small, large)}
    trainer.train_step([parts[small]])  # the optimizer now has what it keeps
    trainer.zero_grad()
    resting = resting_bytes() - before
    _pass(trainer, parts[small])
    gradients = _bytes([parameter.grad for parameter in trainer.get_model().parameters()])
    output_layer = batch.output_layer(trainer.get_model())
    passes = {examples: _watched_pass(trainer, part, output_layer) for examples, part in parts.items()}
    with LiveMemory() as update:
        trainer.clip_grad_norm(trainer.cfg.optimization.clip_norm)
        trainer.optimizer.step()

    def at_full_size(least: float, most: float) -> float:
        slope = (most - least) / (large - small) if large > small else most / large
        return most + slope * (batch.examples - large)

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
        seconds=_seconds(trainer, parts[large]) * batch.examples / large,
    )


@dataclass(frozen=True)
class _Watched:
    """What a pass over a batch took; ``memory`` is the bytes beyond those in use before."""

    flops: float
    operations: int
    traffic: int
    memory: int


def _watched_pass(trainer: Any, batch: dict[str, Any], output_layer: nn.Module) -> _Watched:
    """Return what a pass over a batch takes.

    Its memory is that of the moment when a large batch takes the most: after the backward pass of the output layer,
    with all activations and the scores of all symbols with their gradients. (A small batch takes the most at its end,
    for the gradients of the embeddings.)
    """
    peaks: list[int] = []
    with FlopCounterMode(display=False) as counter, LiveMemory() as live:
        hook = output_layer.register_full_backward_hook(lambda *_: peaks.append(live.peak))
        _pass(trainer, batch)
        hook.remove()
    return _Watched(counter.get_total_flops(), live.operations, live.traffic, *peaks)


def _pass(trainer: Any, batch: dict[str, Any]) -> None:
    """Run forward and backward over a batch; gradients are added to the existing ones."""
    sample, _ = trainer._prepare_sample(batch)
    trainer.task.train_step(sample, trainer.model.train(), trainer.criterion, trainer.optimizer, update_num=1)


def _trainer(cfg: DictConfig, batch: LargestBatch) -> Any:
    nowhere = Path("none")  # nothing is read or saved
    fairseq = to_fairseq(cfg, nowhere, nowhere)
    set_end(fairseq.lr_scheduler, lambda: FAR_AWAY)
    utils.set_torch_seed(cfg.seed)
    task = batch.fairseq_task(fairseq.task)
    return Trainer(fairseq, task, build_model(task, fairseq), build_criterion(task, fairseq))


def _bytes(things: Any) -> int:
    """Return the bytes of the tensors in nested containers; memory that two of them share counts once."""
    storages = [leaf.untyped_storage() for leaf in tree_leaves(things) if isinstance(leaf, torch.Tensor)]
    return sum({storage.data_ptr(): storage.nbytes() for storage in storages}.values())


def _seconds(trainer: Any, batch: dict[str, Any]) -> float:
    """Return the time of one forward and backward pass, in seconds."""
    began = time.perf_counter()
    _pass(trainer, batch)
    if trainer.cuda:
        torch.cuda.synchronize()
    return time.perf_counter() - began
