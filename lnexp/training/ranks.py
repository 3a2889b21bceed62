"""Join the processes that train one run together, and exchange what is not a gradient.

torchrun or SLURM starts them, and fairseq's trainer adds up their gradients. A process that fails ends; the others lose
their connections to it, and end too.
"""

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from typing import TypeVar

from lnexp.errors import UserError, first_line

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
        rank: its number, from 0. Rank 0 leads: it alone writes records, checkpoints and output for people.
        size: how many there are.
        local: its number among the processes of its machine, which is the number of its GPU.
    """

    rank: int = 0
    size: int = 1
    local: int = 0

    @property
    def leads(self) -> bool:
        return self.rank == 0

    def agree(self, value: T) -> T:
        """Return rank 0's value on every process."""
        if self.size == 1:
            return value
        from torch import distributed

        box = [value]
        distributed.broadcast_object_list(box, src=0)
        return box[0]

    def first(self, do: Callable[[], T]) -> T:
        """Call ``do`` on rank 0, and return its result on every process; the others wait."""
        return self.agree(do() if self.leads else None)  # type: ignore[return-value]

    def gather(self, value: T) -> list[T]:
        """Return the values of all processes, in the order of their ranks, on every process."""
        if self.size == 1:
            return [value]
        from torch import distributed

        values: list = [None] * self.size
        distributed.all_gather_object(values, value)
        return values

    def any(self, flag: bool) -> bool:
        """Return whether the flag is set on any process. It is cheap enough to be called at every update."""
        if self.size == 1:
            return flag
        import torch

        asked = torch.tensor(float(flag))
        torch.distributed.all_reduce(asked)
        return bool(asked)


#: A run in one process.
ALONE = Ranks()


def of_environment() -> Ranks:
    """Return which process this is, from the environment variables of torchrun, or of submitit on a SLURM cluster.

    Raises:
        UserError: for environment variables that torchrun would not set.
    """
    if "SUBMITIT_EXECUTOR" in os.environ and "RANK" not in os.environ:
        _of_submitit()
    named = {name: os.environ.get(name, default) for name, default in TORCHRUN.items()}
    if not all(value.isdecimal() for value in named.values()) or not int(named["RANK"]) < int(named["WORLD_SIZE"]):
        said = " ".join(f"{name}={value}" for name, value in named.items())
        raise UserError(f"{said}: not what torchrun says; take torchrun, or unset them")
    return Ranks(*map(int, named.values()))


#: The environment variables of torchrun, with their values without torchrun.
TORCHRUN = {"RANK": "0", "WORLD_SIZE": "1", "LOCAL_RANK": "0"}


def _of_submitit() -> None:
    """Set torchrun's environment variables where a job of submitit has several tasks."""
    from submitit import JobEnvironment
    from submitit.helpers import TorchDistributedEnvironment

    if JobEnvironment().num_tasks > 1:
        TorchDistributedEnvironment().export(set_cuda_visible_devices=False)


@contextmanager
def joined(device: str) -> Iterator[Ranks]:
    """Join the other processes of the run.

    Args:
        device: the option ``device``. On a CPU gradients are exchanged by gloo, on GPUs by NCCL.

    Raises:
        UserError: where this process has no GPU of its own, or the processes do not find each other.
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
        raise UserError(f"the processes of this run do not find each other: {first_line(error)}") from error
    try:
        yield ranks
    except RuntimeError as error:
        if not is_lost(error):
            raise
        if not ranks.leads:
            raise SystemExit(EXIT_LOST) from None  # rank 0 says it
        raise RankLostError("another process of this run has ended; the same command resumes it") from error
    distributed.destroy_process_group()


def is_lost(error: BaseException) -> bool:
    """Return whether an error only means that another process does not answer."""
    from torch import distributed

    if isinstance(error, distributed.DistBackendError):  # NCCL's, of the other end or of this one
        return "remote" in str(error).lower()
    return isinstance(error, distributed.DistError) or "gloo" in str(error)
