"""fairseq's trainer, corrected for several processes, memory errors, and stopping within an epoch."""

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
from fairseq.trainer import Trainer as FairseqTrainer

from lnexp.errors import UserError
from lnexp.files import naming
from lnexp.plugin.far_apart import far_apart
from lnexp.plugin.half_precision import copy_to_fp32, fp32_copies, restore_fp32
from lnexp.runs.checksum import remove_checksum, write_checksum
from lnexp.training.matrix_products import products


class NotFiniteError(ArithmeticError):
    """Training diverged.

    This is no FloatingPointError, because for those fairseq searches the module with another pass, which the other
    processes of the run do not join.
    """


class Trainer(FairseqTrainer):
    """fairseq's trainer, with these differences:

    - An update or a validation that does not fit into memory ends with an error; fairseq leaves the batch out or tries
      again.
    - Each batch is counted once where an update has fewer batches than there are processes; fairseq has the remaining
      processes repeat a batch, and then forgets how many tokens their other batches had.
    - Each process draws its own dropout masks; fairseq gives all of them the same. Each seed has its own, too; fairseq
      gives an update those of the next seed one update earlier.
    - Checkpoints hold the position in the data in batches of all processes, so that another number of processes can
      resume, and the seconds that the epoch has been trained for. A checksum is written beside each.
    - Checkpoints of half precision hold the parameters in fp32, which the optimizer steps; fairseq restores them from
      the rounded ones.

    Attributes:
        before_update: called before each update is tried.
        after_update: called after each update.
        products: the context in which updates are made, see :mod:`lnexp.training.matrix_products`.
        identity: names the run in its checkpoints; empty where each is written under the identity of a member.
    """

    def __init__(self, *arguments: Any):
        super().__init__(*arguments)
        self.before_update: list[Callable[[], None]] = []
        self.after_update: list[Callable[[], None]] = []
        self.products = products(self.cuda)
        self.identity = ""
        self._epoch_began = self._epoch_seconds_before = 0.0

    def build_schedule(self) -> None:
        """Build optimizer and schedule, which fairseq does when one is first asked for.

        Raises:
            UserError: where the optimizer or the schedule cannot be built of its options.
        """
        try:
            self.lr_scheduler  # noqa: B018
        except ValueError as error:
            raise UserError(f"optimizer or lr_schedule: {error}") from error
        except RuntimeError as error:
            if "flat params" not in str(error):
                raise
            name = self.cfg.optimizer._name
            how = "fairseq.common.fp16_no_flatten_grads=true"
            raise UserError(f"optimizer._name={name}: works matrix by matrix, in fp16 with {how} alone") from error

    @property
    def epoch_seconds(self) -> float:
        """Seconds that the epoch has been trained for, without the time that it was interrupted or validated."""
        return time.monotonic() - self._epoch_began

    @epoch_seconds.setter
    def epoch_seconds(self, seconds: float) -> None:
        self._epoch_began = time.monotonic() - seconds

    def begin_epoch(self, epoch: int) -> None:
        self.epoch_seconds, self._epoch_seconds_before = self._epoch_seconds_before, 0.0
        super().begin_epoch(epoch)

    def train_step(self, samples: list[dict[str, Any]], raise_oom: bool = True) -> Any:
        """Make an update as fairseq does; an empty sample means that the update has no batch for this process.

        Raises:
            NotFiniteError: where gradients stop being finite, or fp16's loss scale reaches its minimum.
        """
        before = self.get_num_updates()
        for prepare in self.before_update:
            prepare()
        with self.products():
            output = super().train_step([sample for sample in samples if sample] or samples[:1], raise_oom)
        if self.get_num_updates() > before:
            for look in self.after_update:
                look()
        return output

    def valid_step(self, sample: dict[str, Any], raise_oom: bool = True) -> Any:
        """Validate as fairseq does, but do not try again after a memory error: that deletes an array's gradients."""
        return super().valid_step(sample, raise_oom)

    def clip_grad_norm(self, clip_norm: float) -> torch.Tensor:
        try:
            norm = super().clip_grad_norm(clip_norm).cpu()  # one wait for the GPU instead of four
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
        seed = far_apart(self.cfg.common.seed) + self.get_num_updates() + 1_000_003 * self.data_parallel_rank
        if self.cuda:
            torch.manual_seed(seed)
        else:  # for the devices that are not in use torch would keep the seed, and format the stack that it came from
            torch.default_generator.manual_seed(seed)

    def save_checkpoint(self, filename: str, extra_state: dict[str, Any]) -> str | None:
        if not extra_state:
            return None  # fairseq's dump of a crash, which cannot be resumed
        position = extra_state["train_iterator"]
        batches = position["iterations_in_epoch"] * self.data_parallel_world_size
        everywhere = {
            "train_iterator": position | {"iterations_in_epoch": batches},
            "epoch_seconds": self.epoch_seconds,
            "identity": self.identity,
            "fp32_parameters": [copy.cpu() for copy in fp32_copies(self.optimizer)],
        }
        if self.should_save_checkpoint_on_current_rank:
            remove_checksum(Path(filename))
        with naming(Path(filename)):
            saved = super().save_checkpoint(filename, extra_state | everywhere)
        if saved:
            write_checksum(Path(saved))
        return saved

    def load_checkpoint(self, filename: str, reset_optimizer: bool = False, *arguments: Any, **options: Any) -> Any:
        extra_state = super().load_checkpoint(filename, reset_optimizer, *arguments, **options)
        if reset_optimizer:  # fairseq's copies are of the weights before these
            copy_to_fp32(self.optimizer)
        elif saved := (extra_state or {}).get("fp32_parameters"):  # none in those of arrays, and in fp32
            restore_fp32(self.optimizer, saved)
        if extra_state is not None:
            for name in ("best", "previous_training_time"):
                if isinstance(extra_state.get(name), str | list | dict):  # of several processes it is a tensor
                    raise TypeError(f"its {name} is no number")
            position = extra_state["train_iterator"]
            position["iterations_in_epoch"] //= self.data_parallel_world_size
            if position["iterations_in_epoch"]:
                self._epoch_seconds_before = extra_state.get("epoch_seconds", 0.0)
        return extra_state
