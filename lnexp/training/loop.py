"""Run fairseq's epochs: updates, validation and saving, with hooks for what lnexp does in between."""

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

import fairseq_cli.train as fairseq_train
import numpy as np
import torch
from fairseq import checkpoint_utils, utils
from fairseq.distributed import utils as distributed_utils
from fairseq.logging import metrics
from omegaconf import DictConfig

import lnexp.plugin  # noqa: F401  (registers our models, optimizers, schedules and task)
from lnexp.corpora.prepare import PreparedCorpus
from lnexp.errors import UserError
from lnexp.fairseq_config import build_criterion, build_model, build_task
from lnexp.runs.records import Record
from lnexp.tasks import task_of
from lnexp.training.memory import keep_freed_memory
from lnexp.training.models.base import Losses
from lnexp.training.ranks import Ranks
from lnexp.training.shares import share_out
from lnexp.training.trainer import NotFiniteError, Trainer


class Loop(ABC):
    """A task, a model and its trainer, and fairseq's epochs over them.

    fairseq's own ``train`` makes the updates, validates and saves, so its options mean what they mean there. A subclass
    says how to begin (:meth:`_restore`), and what to do after a validation, after a save, between epochs, and where
    training stops within one.

    Attributes:
        task: fairseq's task.
        contract: what lnexp knows of the task.
        evaluation: what validation and test measure beside the loss.
    """

    def __init__(
        self,
        cfgs: Sequence[DictConfig],
        fairseq: DictConfig,
        corpus: PreparedCorpus,
        show_progress: bool,
        ranks: Ranks,
    ):
        self.cfg, self.fairseq, self.corpus, self.ranks = (cfg := cfgs[0]), fairseq, corpus, ranks
        share_out(fairseq, ranks)
        _forget_earlier_runs()
        keep_freed_memory()
        torch.set_num_threads(cfg.threads)
        torch.backends.cuda.enable_cudnn_sdp(False)  # it plans for each shape anew, and batches have thousands
        fairseq.common.log_format = fairseq.common.log_format or ("tqdm" if show_progress else "simple")
        np.random.seed(fairseq.common.seed)
        utils.set_torch_seed(fairseq.common.seed)
        self.task: Any = build_task(fairseq)
        self.contract = task_of(cfg)
        self.evaluation = self.contract.evaluation(cfg, self.task, corpus, ranks)
        self.contract.set_starts(self.task, cfgs)
        self.model: Any = build_model(self.task, fairseq)
        self.criterion = build_criterion(self.task, fairseq)
        self.evaluation.load_data(fairseq)
        self.trainer = Trainer(fairseq, self.task, self.model, self.criterion)
        self._batches: Any = None  # fairseq's iterator over epochs, once training begins
        self._epoch_seconds = 0.0

    @property
    def device(self) -> str:
        """The name of what trains: the GPU's, or ``cpu``."""
        return torch.cuda.get_device_name() if self.trainer.cuda else "cpu"

    @property
    def updates(self) -> int:
        return self.trainer.get_num_updates()

    @abstractmethod
    def _restore(self) -> Any:
        """Load what was trained before, if anything, and return the iterator over the epoch to train next."""

    @abstractmethod
    def _after_validation(self, epoch: int, valid: Any) -> None:
        """Record the epoch that is over; ``valid`` are fairseq's meters."""

    @abstractmethod
    def _after_save(self) -> None:
        """Called when fairseq has written a checkpoint."""

    @abstractmethod
    def _stopped_within_epoch(self) -> None:
        """Called when training has ended within an epoch, after its validation."""

    @abstractmethod
    def _between_epochs(self) -> None:
        """Called when an epoch is trained, validated and saved, before the next epoch or the test."""

    def _train_epochs(self) -> None:
        """Train from where :meth:`_restore` begins to the last epoch.

        Raises:
            FloatingPointError: where loss or gradients stop being finite, or fp16's loss scale reaches its minimum.
        """
        self._batches = self._restore()
        self._hook_in()
        while self._batches.next_epoch_idx <= self._last_epoch and self.updates < self._last_update:
            valid_losses, should_stop = self._train_epoch()
            if should_stop:
                if not self._batches.end_of_epoch():
                    self._stopped_within_epoch()
                self._between_epochs()
                break
            lr = self.trainer.lr_step(self._batches.epoch, valid_losses[0])
            if lr <= self.fairseq.optimization.stop_min_lr:
                self._between_epochs()
                break
            self._batches = self.trainer.get_train_iterator(self._batches.next_epoch_idx, load_dataset=False)
            self._between_epochs()

    @property
    def _last_epoch(self) -> float:
        return self.fairseq.optimization.max_epoch or math.inf

    @property
    def _last_update(self) -> float:
        return self.fairseq.optimization.max_update or math.inf

    def _hook_in(self) -> None:
        """Have fairseq call us before and after a validation and after a save.

        It may validate within an epoch, too, or on several subsets: what counts is the first subset at the end.
        """
        recorded = {self._batches.epoch - 1}

        def before_validation(epoch: int, model: Any) -> None:
            self._epoch_seconds = self.trainer.epoch_seconds

        def after_validation(model: Any, stats: Any, meters: Any) -> None:
            epoch = self._batches.epoch
            over = self._batches.end_of_epoch() or self.updates >= self._last_update
            if not over:
                self.trainer.epoch_seconds = self._epoch_seconds
            elif epoch not in recorded:
                recorded.add(epoch)
                self._after_validation(epoch, meters)

        self.task.begin_valid_epoch = before_validation
        self.task.post_validate = after_validation
        self.task.post_save = lambda path, updates: self._after_save()

    def _train_epoch(self) -> tuple[list[float | None], bool]:
        """Train an epoch with fairseq, and return its validation losses and whether it says to stop."""
        try:
            return fairseq_train.train(self.fairseq, self.trainer, self.task, self._batches)
        except NotFiniteError as error:
            raise FloatingPointError(str(error)) from None

    def _total_updates(self) -> int:
        """Return the number of updates of the whole run. Raises UserError where the run has no end."""
        batches = len(self.trainer.get_train_iterator(1, load_dataset=False))
        optimization = self.fairseq.optimization
        if optimization.skip_remainder_batch:  # fairseq leaves out the last batch, and then an update that is not full
            updates = (batches - 1) // optimization.update_freq[-1]
        else:
            updates = math.ceil(batches / optimization.update_freq[-1])
        total = min(updates * self._last_epoch, self._last_update)
        if not math.isfinite(total):
            raise UserError("lr_schedule.total_updates: not set, and the run has no end to take it from")
        return int(total)

    def _epoch_record(self, epoch: int, losses: Losses, measured: Record, schedule: Any) -> Record:
        """Return the ``epoch`` record of a member; ``measured`` is the task's part of it."""
        return {
            "kind": "epoch",
            "epoch": epoch,
            "update": self.updates,
            "valid_loss": _nats(losses.valid_loss),
            "valid_nll": _nats(losses.valid_nll),
            **measured,
            "train_loss": _nats(losses.train_loss),
            "lr": _last_lr(schedule, self.updates),
            "grad_norm": losses.grad_norm,
            **self._pace(),
        }

    def _pace(self) -> Record:
        """Return how long the updates of the epoch took, how fast they were, and when it ended."""
        tokens = float(metrics.get_meters("train")["wpb"].sum)
        return {
            "seconds": round(self._epoch_seconds, 3),
            "tokens_per_second": round(tokens / self._epoch_seconds, 1),
            "time": datetime.now(UTC).isoformat(timespec="seconds"),
        }


def _nats(bits: Any) -> float:
    """Return a loss in nats; fairseq gives it in bits."""
    return float(bits) * math.log(2)


def _last_lr(schedule: Any, updates: int) -> float:
    """Return the learning rate that the last update was made with; of a schedule of fairseq's own, which cannot say it,
    that of the next one.
    """
    return schedule.lr_at(updates) if hasattr(schedule, "lr_at") else schedule.optimizer.get_lr()


def _forget_earlier_runs() -> None:
    """Drop the meters and best scores that fairseq keeps in the process: a sweep's worker trains many runs in one."""
    metrics.reset()
    for function in (
        checkpoint_utils.save_checkpoint,
        fairseq_train.should_stop_early,
        distributed_utils.get_global_group,
    ):
        vars(function).clear()
