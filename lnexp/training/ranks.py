"""One run in many processes: which of them this is, and what they tell each other besides gradients.

torchrun or SLURM starts them, and fairseq's trainer adds up their gradients. A process that fails, ends; the others see
its connections fall, and end too.
"""

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from typing import TypeVar

from lnexp.errors import UserError

T = TypeVar("T")

#: Long, because one process may prepare a corpus for hours while the others wait.
RENDEZVOUS_TIMEOUT = timedelta(days=1)

EXIT_LOST = 3


class RankLostError(UserError):
    """Another process of the run has ended; the run is interrupted, not failed."""


@dataclass(frozen=True)
class Ranks:
    """One of the processes of a run.

    Attributes:
        rank: its number, from 0; the first leads: it alone writes records, checkpoints and what a person reads.
        size: how many there are.
        local: its number among those of its machine, which is that of its GPU.
    """

    rank: int = 0
    size: int = 1
    local: int = 0

    @property
    def leads(self) -> bool:
        return self.rank == 0

    def agree(self, value: T) -> T:
        """The first one's value, for all."""
        if self.size == 1:
            return value
        from torch import distributed

        box = [value]
        distributed.broadcast_object_list(box, src=0)
        return box[0]

    def first(self, do: Callable[[], T]) -> T:
        """What the first one makes of it, for all; the others wait."""
        return self.agree(do() if self.leads else None)  # type: ignore[return-value]

    def gather(self, value: T) -> list[T]:
        """Everyone's values, in the order of their ranks, for all."""
        if self.size == 1:
            return [value]
        from torch import distributed

        values: list = [None] * self.size
        distributed.all_gather_object(values, value)
        return values

    def any(self, flag: bool) -> bool:
        """Whether one of them says yes. Cheap enough for every update."""
        if self.size == 1:
            return flag
        import torch

        asked = torch.tensor(float(flag))
        torch.distributed.all_reduce(asked)
        return bool(asked)


#: A run in one process.
ALONE = Ranks()


def of_environment() -> Ranks:
    """Which process this is, by what torchrun says, or submitit on a SLURM cluster.

    Raises:
        UserError: for variables of torchrun's that are not whole.
    """
    if "SUBMITIT_EXECUTOR" in os.environ and "RANK" not in os.environ:
        _of_submitit()
    named = {name: os.environ.get(name, default) for name, default in TORCHRUN.items()}
    if not all(value.isdigit() for value in named.values()) or not int(named["RANK"]) < int(named["WORLD_SIZE"]):
        said = " ".join(f"{name}={value}" for name, value in named.items())
        raise UserError(f"{said}: not what torchrun says; take torchrun, or unset them")
    return Ranks(*map(int, named.values()))


#: What torchrun tells each process, and what it is without torchrun.
TORCHRUN = {"RANK": "0", "WORLD_SIZE": "1", "LOCAL_RANK": "0"}


def _of_submitit() -> None:
    """Say it as torchrun does, where a job has many tasks."""
    from submitit import JobEnvironment
    from submitit.helpers import TorchDistributedEnvironment

    if JobEnvironment().num_tasks > 1:
        TorchDistributedEnvironment().export(set_cuda_visible_devices=False)


@contextmanager
def joined(device: str) -> Iterator[Ranks]:
    """Join the other processes of the run.

    Args:
        device: the config's; ``cpu`` or where there is no GPU, gradients go between CPUs.

    Raises:
        RankLostError: where one of the others ends before this one.
    """
    ranks = of_environment()
    if ranks.size == 1:
        yield ranks
        return
    import torch
    from torch import distributed

    on_gpu = device != "cpu" and torch.cuda.is_available()
    if on_gpu:
        if ranks.local >= torch.cuda.device_count():
            raise UserError(f"process {ranks.local} of this machine has no GPU: it sees {torch.cuda.device_count()}")
        torch.cuda.set_device(ranks.local)
    try:
        distributed.init_process_group("cpu:gloo,cuda:nccl" if on_gpu else "gloo", timeout=RENDEZVOUS_TIMEOUT)
    except (RuntimeError, ValueError) as error:
        raise UserError(f"the processes of this run do not find each other: {str(error).splitlines()[0]}") from error
    try:
        yield ranks
    except RuntimeError as error:
        if not is_lost(error):
            raise
        if not ranks.leads:
            raise SystemExit(EXIT_LOST) from None  # one of them is enough to say it
        raise RankLostError("another process of this run has ended; the same command goes on from here") from error
    distributed.destroy_process_group()


def is_lost(error: BaseException) -> bool:
    """Whether an error is only that another process does not answer."""
    from torch import distributed

    if isinstance(error, distributed.DistBackendError):  # NCCL's, of the other end or of this one
        return "remote" in str(error).lower()
    return isinstance(error, distributed.DistError) or "gloo" in str(error)
