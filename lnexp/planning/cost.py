"""Work out what a run costs: updates, arithmetic, time, memory and disk."""

from collections.abc import Sequence
from dataclasses import dataclass

from omegaconf import DictConfig

from lnexp.planning.devices import Device, all_reduce_seconds, seconds
from lnexp.planning.epochs import extent
from lnexp.planning.step import Step, parts, shallow_or_whole
from lnexp.planning.work import Work
from lnexp.runs.checkpoint_retention import checkpoints_for_good
from lnexp.tasks import task_of
from lnexp.training.ranks import Ranks
from lnexp.training.shares import share


@dataclass(frozen=True)
class Cost:
    """The cost of one run.

    Attributes:
        work: an epoch of it.
        step: what its largest batch costs.
        updates_an_epoch, updates: how many it makes.
        flops: floating point operations of its training, in matrix products alone.
        hours: of its training, without validation and test.
        memory: bytes at the peak, in each process.
        disk: bytes of the checkpoints that are kept when it is over.
        scaled: whether the step was measured on models with fewer layers.
    """

    work: Work
    step: Step
    updates_an_epoch: int
    updates: int
    flops: float
    hours: float
    memory: int
    disk: int
    scaled: bool = False


def costs_of(cfg: DictConfig, processes: Sequence[int], device: Device | None) -> list[Cost]:
    """Return what a run costs, from a count of its text and a measurement of its model on a part of a batch.

    Args:
        cfg: the run's resolved config.
        processes: how many share an update; there is a cost for each of these numbers.
        device: of each process; None for the one that is available, whose time is then measured.

    Raises:
        UserError: where an update's batches cannot be shared among so many, or the size of the corpus is not known.
    """
    shares = [share(cfg.update_freq, Ranks(size=count)) for count in processes]
    work = task_of(cfg).work(cfg)
    found, scaled = shallow_or_whole(cfg, work.largest) if device else (parts(cfg, work.largest), False)
    return [
        _cost(cfg, work, found.step(of_each, elsewhere=device is not None), count, of_each, device, scaled)
        for count, of_each in zip(processes, shares, strict=True)
    ]


def _cost(
    cfg: DictConfig, work: Work, step: Step, processes: int, of_each: int, device: Device | None, scaled: bool
) -> Cost:
    """Return what a run costs whose updates have ``of_each`` batches in each of so many processes."""
    updates_an_epoch, updates, epochs = extent(cfg, work)
    # batches are about as large as the largest; their tokens, padding left out, say how much smaller
    share_of_largest = min(work.tokens / work.batches / work.largest.tokens, 1)
    flops, traffic = step.flops * share_of_largest, step.traffic * share_of_largest
    a_pass = step.seconds * share_of_largest
    together = 0.0
    if device:
        a_pass = seconds(device, cfg.precision, flops, traffic, step.operations)
        together = all_reduce_seconds(device, step.gradient_bytes, processes)
    return Cost(
        work=work,
        step=step,
        updates_an_epoch=updates_an_epoch,
        updates=updates,
        flops=flops * work.batches * updates / updates_an_epoch,
        hours=(a_pass * of_each + together) * updates / 3600,
        memory=step.memory + (step.gradient_bytes if processes > 1 else 0),
        disk=checkpoints_for_good(cfg, epochs) * step.checkpoint,
        scaled=scaled,
    )
