"""Measure what one batch costs a run: on a few examples, scaled up; of a deep model on a few layers."""

import copy
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import torch
from fairseq import utils
from fairseq.logging import metrics
from omegaconf import DictConfig
from torch import nn
from torch.utils._pytree import tree_leaves
from torch.utils.flop_counter import FlopCounterMode

from lnexp.fairseq_config import build_criterion, build_model, to_fairseq
from lnexp.planning.live_memory import LiveMemory, resting_bytes
from lnexp.planning.work import LargestBatch
from lnexp.plugin.half_precision import fp32_copies
from lnexp.plugin.warmup_schedule import set_end
from lnexp.tasks import task_of
from lnexp.training.memory import keep_freed_memory
from lnexp.training.trainer import Trainer

#: Tokens of the larger part that is measured: from there on, what a batch takes grows linearly with its examples.
ENOUGH = 256
#: Models with more layers a side than this need not be measured whole, but on so few.
MOST_LAYERS, SHALLOW = 6, (1, 2)
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
        resting: bytes in use between updates: parameters, their copies, the optimizer's state, gradients that it keeps.
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


class Parts(NamedTuple):
    """What a run's largest batch takes, part by part: all of it grows linearly with the layers of a model.

    Attributes:
        parameters, flops, operations, traffic, resting, gradient_bytes, checkpoint, seconds: as in :class:`Step`.
        kept_bytes: bytes of gradients that the optimizer keeps from update to update; ``resting`` is without them.
        pass_bytes: bytes that a forward and backward pass takes beyond those in use before.
        update_bytes: bytes that the update of the parameters takes beyond those in use before.
    """

    parameters: float
    flops: float
    operations: float
    traffic: float
    resting: float
    gradient_bytes: float
    checkpoint: float
    seconds: float
    kept_bytes: float
    pass_bytes: float
    update_bytes: float

    def step(self, batches_of_an_update: int, elsewhere: bool = False) -> Step:
        """Return the cost of an update.

        Args:
            batches_of_an_update: how many it has, whose gradients a process adds up.
            elsewhere: whether it is made on a GPU that is not here, where no optimizer keeps gradients.
        """
        always = 0 if elsewhere else self.kept_bytes
        kept = self.gradient_bytes if batches_of_an_update > 1 else always
        peak = max(kept + self.pass_bytes, self.gradient_bytes + self.update_bytes)
        return Step(
            parameters=round(self.parameters),
            flops=self.flops,
            operations=round(self.operations),
            traffic=self.traffic,
            resting=round(self.resting + always),
            memory=round(self.resting + int(peak)),
            gradient_bytes=round(self.gradient_bytes),
            checkpoint=round(self.checkpoint),
            seconds=self.seconds,
        )


def shallow_or_whole(cfg: DictConfig, batch: LargestBatch) -> tuple[Parts, bool]:
    """Return what a batch takes, and whether it was scaled from models with fewer layers, which takes less time.

    That is so for models with more than :data:`MOST_LAYERS` a side. ``seconds`` then is scaled, too; a GPU that is not
    available has no use for it.
    """
    names = [f"{side}_layers" for side in task_of(cfg).sides]
    layers = {int(cfg.model[name]) for name in names}
    if len(layers) > 1 or max(layers) <= MOST_LAYERS:
        return parts(cfg, batch), False
    few, more = (parts(_with_layers(cfg, names, count), batch) for count in SHALLOW)
    further = (max(layers) - SHALLOW[0]) / (SHALLOW[1] - SHALLOW[0])
    return Parts(*(low + further * (high - low) for low, high in zip(few, more, strict=True))), True


def _with_layers(cfg: DictConfig, names: list[str], count: int) -> DictConfig:
    """Return the config of a model with so many layers a side."""
    shallow = copy.deepcopy(cfg)
    for part in (shallow.model, shallow.fairseq.model):  # a resolved config has the model twice
        for name in names:
            part[name] = count
    return shallow


def parts(cfg: DictConfig, batch: LargestBatch) -> Parts:
    """Return what a batch takes, from training on two parts of it: memory and arithmetic grow linearly with examples.

    Nothing is read from disk: the examples are drawn at random.

    Args:
        cfg: the run's resolved config, which states model, optimizer and precision.
        batch: the largest one of the run.
    """
    metrics.reset()  # fairseq's meters keep tensors of what was trained before in this process
    before = resting_bytes()
    trainer = _trainer(cfg, batch)
    large = max(min(batch.examples, ENOUGH // batch.length), 1)
    small = max(large // 2, 1)
    drawn = {examples: batch.draw(trainer.task, examples) for examples in (small, large)}
    trainer.train_step([drawn[small]])  # the optimizer now has what it keeps
    trainer.zero_grad()
    kept = _gradients(trainer)
    resting = resting_bytes() - before - kept
    _pass(trainer, drawn[small])
    gradients = _gradients(trainer)
    output_layer = batch.output_layer(trainer.get_model())
    passes = {examples: _watched_pass(trainer, part, output_layer) for examples, part in drawn.items()}
    with LiveMemory() as update:
        trainer.clip_grad_norm(trainer.cfg.optimization.clip_norm)
        trainer.optimizer.step()

    def at_full_size(least: float, most: float) -> float:
        slope = (most - least) / (large - small) if large > small else most / large
        return most + slope * (batch.examples - large)

    first, last = passes[small], passes[large]
    return Parts(
        parameters=sum(parameter.numel() for parameter in trainer.get_model().parameters()),
        flops=at_full_size(first.flops, last.flops),
        operations=last.operations,
        traffic=at_full_size(first.traffic, last.traffic),
        resting=resting,
        gradient_bytes=gradients,
        checkpoint=_bytes(
            [trainer.get_model().state_dict(), trainer.optimizer.state_dict(), fp32_copies(trainer.optimizer)]
        ),
        seconds=_seconds(trainer, drawn[large]) * batch.examples / large,
        kept_bytes=kept,
        pass_bytes=at_full_size(first.memory, last.memory),
        update_bytes=update.peak,
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
    keep_freed_memory()  # as in training
    torch.set_num_threads(cfg.threads)
    nowhere = Path("none")  # nothing is read or saved
    fairseq = to_fairseq(cfg, nowhere, nowhere)
    if fairseq.common.fp16 and cfg.device == "cpu":  # where fairseq's optimizer of it cannot be; bf16 has as many bytes
        fairseq.common.fp16, fairseq.common.bf16 = False, True
    set_end(fairseq.lr_scheduler, lambda: FAR_AWAY)
    utils.set_torch_seed(cfg.seed)
    task = batch.fairseq_task(fairseq.task)
    trainer = Trainer(fairseq, task, build_model(task, fairseq), build_criterion(task, fairseq))
    trainer.build_schedule()
    return trainer


def _gradients(trainer: Any) -> int:
    """Return the bytes of the gradients that there are: an optimizer may keep their memory from update to update."""
    return _bytes([parameter.grad for parameter in trainer.get_model().parameters()])


def _bytes(things: Any) -> int:
    """Return the bytes of the tensors in nested containers; memory that two of them share counts once."""
    storages = [leaf.untyped_storage() for leaf in tree_leaves(things) if isinstance(leaf, torch.Tensor)]
    return sum({storage.data_ptr(): storage.nbytes() for storage in storages}.values())


def _seconds(trainer: Any, batch: dict[str, Any]) -> float:
    """Return the time of one forward and backward pass, in seconds, once there are kernels for its shapes."""
    for _ in range(2):
        began = time.perf_counter()
        with trainer.products():
            _pass(trainer, batch)
        if trainer.cuda:
            torch.cuda.synchronize()
    return time.perf_counter() - began
