"""fairseq's trainer, for one process or many of a run, and without what does not hold there."""

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
from fairseq.trainer import Trainer as FairseqTrainer

from lnexp.runs.checksum import seal, unseal


class NotFiniteError(ArithmeticError):
    """Training diverged. No FloatingPointError: for those fairseq searches the place, with a pass that its other
    processes do not join.
    """


class Trainer(FairseqTrainer):
    """fairseq's trainer, which also

    - ends an update or a validation that does not fit into memory with an error, where fairseq leaves the batch out or
      tries again;
    - counts each batch once where there are fewer than processes: fairseq has the others repeat one, and for its sake
      forgets how many tokens the process's other batches had;
    - draws the dropout of each process anew: fairseq gives all of them the same;
    - saves where in the data it is in batches of all processes, so that another number of them can go on, for how
      long the epoch has been trained, and a digest beside the checkpoint.

    Attributes:
        after_update: called after each update.
    """

    def __init__(self, *arguments: Any):
        super().__init__(*arguments)
        self.after_update: list[Callable[[], None]] = []
        self._epoch_began = self._epoch_seconds_before = 0.0

    @property
    def epoch_seconds(self) -> float:
        """Since the epoch began, without the time that it was interrupted."""
        return time.monotonic() - self._epoch_began

    def begin_epoch(self, epoch: int) -> None:
        self._epoch_began = time.monotonic() - self._epoch_seconds_before
        self._epoch_seconds_before = 0.0
        super().begin_epoch(epoch)

    def train_step(self, samples: list[dict[str, Any]], raise_oom: bool = True) -> Any:
        """As fairseq's; an empty sample is a process's share of an update that has no batch for it.

        Raises:
            NotFiniteError: where gradients stop being finite, or fp16's loss scale reaches its minimum.
        """
        before = self.get_num_updates()
        output = super().train_step([sample for sample in samples if sample] or samples[:1], raise_oom)
        if self.get_num_updates() > before:
            for look in self.after_update:
                look()
        return output

    def valid_step(self, sample: dict[str, Any], raise_oom: bool = True) -> Any:
        """As fairseq's, which would take an array's gradients from its optimizer before it tries again."""
        return super().valid_step(sample, raise_oom)

    def clip_grad_norm(self, clip_norm: float) -> torch.Tensor:
        try:
            norm = super().clip_grad_norm(clip_norm).cpu()  # waits for the GPU once; fairseq looks at it thrice more
        except FloatingPointError as error:
            raise NotFiniteError(str(error)) from None
        if not torch.isfinite(norm).all():
            raise NotFiniteError("gradients are Nan/Inf")
        return norm

    def _check_grad_norms(self, grad_norm: torch.Tensor) -> None:
        try:
            super()._check_grad_norms(grad_norm)
        except FloatingPointError as error:  # processes that differ are a fault of the machine, and no divergence
            raise RuntimeError(str(error)) from None

    def _set_seed(self) -> None:
        super()._set_seed()
        if self.data_parallel_rank:
            torch.manual_seed(torch.initial_seed() + 1_000_003 * self.data_parallel_rank)

    def save_checkpoint(self, filename: str, extra_state: dict[str, Any]) -> str | None:
        if not extra_state:
            return None  # fairseq's dump of a crash, from which nothing goes on
        position = extra_state["train_iterator"]
        batches = position["iterations_in_epoch"] * self.data_parallel_world_size
        everywhere = {
            "train_iterator": position | {"iterations_in_epoch": batches},
            "epoch_seconds": self.epoch_seconds,
        }
        if self.should_save_checkpoint_on_current_rank:
            unseal(Path(filename))
        saved = super().save_checkpoint(filename, extra_state | everywhere)
        if saved:
            seal(Path(saved))
        return saved

    def load_checkpoint(self, *arguments: Any, **options: Any) -> Any:
        extra_state = super().load_checkpoint(*arguments, **options)
        if extra_state is not None:
            position = extra_state["train_iterator"]
            position["iterations_in_epoch"] //= self.data_parallel_world_size
            if position["iterations_in_epoch"]:
                self._epoch_seconds_before = extra_state.get("epoch_seconds", 0.0)
        return extra_state
