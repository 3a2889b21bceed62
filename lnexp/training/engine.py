"""fairseq's trainer, epoch by epoch, with a record after each."""

import math
import time
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import fairseq_cli.train as fairseq_train
import numpy as np
import torch
from fairseq import checkpoint_utils, tasks, utils
from fairseq.logging import metrics
from fairseq.trainer import Trainer
from omegaconf import DictConfig
from omegaconf.errors import OmegaConfBaseException

import lnexp.plugin  # noqa: F401  (registers our models, optimizers, schedules and task)
from lnexp.configuration import forget_schemas
from lnexp.corpora.prepare import PreparedCorpus
from lnexp.corpora.text import SPLITS
from lnexp.errors import UserError
from lnexp.runs.folder import RunFolder
from lnexp.runs.records import Record
from lnexp.training import bleu
from lnexp.training.fairseq_config import to_fairseq
from lnexp.training.translate import FirstSentences, translate

OnEpoch = Callable[[Record], None]

forget_schemas()  # a worker composes its next job's config in this process


class Engine:
    """One run's task, model and trainer.

    fairseq's own ``train`` makes the updates, validates and saves, so its options mean what they mean there; we hook in
    after a validation (to translate and record) and after a save (to prune). The record comes before the checkpoint:
    a kill between the two repeats an epoch, and never leaves a checkpoint without its record.
    """

    def __init__(self, cfg: DictConfig, folder: RunFolder, corpus: PreparedCorpus, show_progress: bool):
        self.cfg, self.folder, self.corpus = cfg, folder, corpus
        _forget_earlier_runs()
        torch.set_num_threads(cfg.threads)
        self.fairseq = to_fairseq(cfg, corpus.bin, folder.checkpoints)
        self.fairseq.common.log_format = self.fairseq.common.log_format or ("tqdm" if show_progress else "simple")
        np.random.seed(cfg.seed)
        utils.set_torch_seed(cfg.seed)
        self.task = tasks.setup_task(self.fairseq.task)
        try:
            self.model = self.task.build_model(self.fairseq.model)
            self.criterion = self.task.build_criterion(self.fairseq.criterion)
        except (AssertionError, ValueError, OmegaConfBaseException) as error:
            raise UserError(f"model: {str(error).splitlines()[0]}") from error
        for split in SPLITS:
            self.task.load_dataset(split)
            self._check_lengths(split)
        self.trainer = Trainer(self.fairseq, self.task, self.model, self.criterion)
        self._batches: Any = None  # fairseq's iterator over epochs, once training begins
        self._epoch_began = self._training_paused = 0.0

    @property
    def device(self) -> str:
        """The name of what trains: the GPU's, or ``cpu``."""
        return torch.cuda.get_device_name() if self.trainer.cuda else "cpu"

    @property
    def updates(self) -> int:
        return self.trainer.get_num_updates()

    def train(self, on_epoch: OnEpoch) -> None:
        """Train from the newest checkpoint, or from the start, to the last epoch.

        Raises:
            FloatingPointError: where loss or gradients stop being finite, or fp16's loss scale reaches its minimum.
        """
        self._batches = self._restore()
        self._hook_in(on_epoch)
        while self._batches.next_epoch_idx <= self._last_epoch and self.updates < self._last_update:
            self._epoch_began = time.monotonic()
            valid_losses, should_stop = self._train_epoch()
            if should_stop:
                self._save_partial_epoch()
                break
            lr = self.trainer.lr_step(self._batches.epoch, valid_losses[0])
            if lr <= self.fairseq.optimization.stop_min_lr:
                break
            self._batches = self.trainer.get_train_iterator(self._batches.next_epoch_idx, load_dataset=False)

    @property
    def _last_epoch(self) -> float:
        return self.fairseq.optimization.max_epoch or math.inf

    @property
    def _last_update(self) -> float:
        return self.fairseq.optimization.max_update or math.inf

    def _hook_in(self, on_epoch: OnEpoch) -> None:
        """Have fairseq call us before and after a validation and after a save.

        It may validate within an epoch, too, or on several subsets: what is recorded is the first subset at the end.
        """

        def before_validation(epoch: int, model: Any) -> None:
            self._training_paused = time.monotonic()

        def after_validation(model: Any, stats: Any, meters: Any) -> None:
            epoch = self._batches.epoch
            over = self._batches.end_of_epoch() or self.updates >= self._last_update
            if over and epoch not in [record["epoch"] for record in self.folder.epochs()]:
                on_epoch(self._epoch_record(epoch, meters))

        self.task.begin_valid_epoch = before_validation
        self.task.post_validate = after_validation
        self.task.post_save = lambda path, updates: self._prune()

    def _check_lengths(self, split: str) -> None:
        """Refuse a sentence that fits no batch: fairseq would skip it in training, or fail without saying which."""
        dataset = self.task.dataset(split)
        limits = {
            "train": self.fairseq.dataset.max_tokens,
            "valid": self.fairseq.dataset.max_tokens_valid,
            "test": self.cfg.evaluation.max_tokens,
        }
        limit = min(limits[split], *self.task.max_positions())
        lengths = np.maximum(dataset.src_sizes, dataset.tgt_sizes)
        longest = int(lengths.argmax())
        if lengths[longest] > limit:
            raise UserError(
                f"{self.cfg.data.name}: sentence {longest + 1} of {split} has {lengths[longest]} tokens, more than the"
                f" {limit} that a batch or the model takes; raise max_tokens or leave it out"
            )

    def _train_epoch(self) -> tuple[list[float | None], bool]:
        """One epoch of fairseq's: its validation losses, and whether it says to stop."""
        try:
            return fairseq_train.train(self.fairseq, self.trainer, self.task, self._batches)
        except FloatingPointError:
            raise
        except Exception as error:
            # when gradients stop being finite, fairseq searches for the place, and its search fails on today's torch
            if isinstance(error.__context__, FloatingPointError):
                raise error.__context__ from None
            raise

    def _restore(self) -> Any:
        """Load the newest checkpoint, if there is one, and return the iterator over the epoch to train next."""
        self._fill_in_total_updates()
        try:
            self.trainer.lr_scheduler  # noqa: B018  (builds it)
        except ValueError as error:
            raise UserError(f"lr_schedule: {error}") from error
        newest = self.folder.last_checkpoint_epoch()
        if newest:
            self.fairseq.checkpoint.restore_file = str(self.folder.checkpoint(newest))
        _, epoch_itr = checkpoint_utils.load_checkpoint(self.fairseq.checkpoint, self.trainer)
        return epoch_itr

    def _fill_in_total_updates(self) -> None:
        """A schedule that ends somewhere ends with the run, unless it was told otherwise."""
        schedule = self.fairseq.lr_scheduler
        if schedule.get("total_updates", 0) is None:
            batches = len(self.trainer.get_train_iterator(1, load_dataset=False))
            updates = math.ceil(batches / self.fairseq.optimization.update_freq[-1])
            total = min(updates * self._last_epoch, self._last_update)
            if not math.isfinite(total):
                raise UserError("lr_schedule.total_updates: not set, and the run has no end to take it from")
            schedule.total_updates = int(total)

    def _epoch_record(self, epoch: int, valid: Any) -> Record:
        seconds = self._training_paused - self._epoch_began
        train = metrics.get_meters("train")
        loss, nll = _nats(valid["loss"]), _nats(valid["nll_loss"])
        if not math.isfinite(loss):
            raise FloatingPointError(f"validation loss is {loss}")
        hypotheses, score = self.translate_valid()
        self.folder.write_hypotheses(f"valid.epoch{epoch}", hypotheses)
        return {
            "kind": "epoch",
            "epoch": epoch,
            "update": self.updates,
            "valid_loss": loss,
            "valid_nll": nll,
            "valid_bleu": score.bleu,
            "bleu_signature": score.signature,
            "n_sentences": len(hypotheses),
            "beam": self.cfg.evaluation.valid_beam,
            "train_loss": _nats(train["loss"]),
            "lr": self._last_lr(),
            "grad_norm": float(train["gnorm"].avg),
            "seconds": round(seconds, 3),
            "tokens_per_second": round(float(train["wpb"].sum) / seconds, 1),
            "time": datetime.now(UTC).isoformat(timespec="seconds"),
        }

    def _last_lr(self) -> float:
        """The rate that the last update was made with (the trainer already holds the next one's)."""
        schedule = self.trainer.lr_scheduler
        return schedule.lr_at(self.updates) if hasattr(schedule, "lr_at") else self.trainer.get_lr()

    def translate_valid(self) -> tuple[list[str], bleu.Score]:
        """Translate the first ``evaluation.valid_sentences`` of valid: hypotheses and their detokenised BLEU."""
        evaluation = self.cfg.evaluation
        hypotheses = self._translate("valid", evaluation.valid_beam, evaluation.valid_sentences)
        references = self.corpus.lines("valid", self.cfg.data.target_lang)[: len(hypotheses)]
        return hypotheses, bleu.detokenised_bleu(hypotheses, references, self.cfg.data.target_lang)

    def test(self, epoch: int) -> Record:
        """Translate the test set with the checkpoint of ``epoch``, and return the ``end`` record."""
        state = checkpoint_utils.load_checkpoint_to_cpu(str(self.folder.checkpoint(epoch)))
        self.model.load_state_dict(state["model"], strict=True, model_cfg=self.fairseq.model)
        target_lang = self.cfg.data.target_lang
        hypotheses = self._translate("test", self.cfg.evaluation.test_beam, 0)
        self.folder.write_hypotheses("test", hypotheses)
        references = self.corpus.lines("test", target_lang)
        detokenised = bleu.detokenised_bleu(hypotheses, references, target_lang)
        tokenised = bleu.tokenised_bleu(hypotheses, references)
        return {
            "kind": "end",
            "checkpoint_epoch": epoch,
            "test_bleu": detokenised.bleu,
            "bleu_signature": detokenised.signature,
            "test_bleu_tokenised": tokenised.bleu,
            "bleu_signature_tokenised": tokenised.signature,
            "n_sentences": len(hypotheses),
            "beam": self.cfg.evaluation.test_beam,
        }

    def _translate(self, split: str, beam: int, count: int) -> list[str]:
        sentences = FirstSentences(self.task.dataset(split), count)
        post_process = self.cfg.data.post_process
        return translate(self.task, self.model, sentences, self.cfg.evaluation, beam, post_process)

    def _prune(self) -> None:
        """Drop the checkpoints that ``checkpoints.keep`` does not ask for, and fairseq's copy of the best one."""
        (self.folder.checkpoints / "checkpoint_best.pt").unlink(missing_ok=True)
        keep, epochs = self.cfg.checkpoints.keep, self.folder.epochs()
        if keep == "all":
            return
        kept = {self.folder.last_checkpoint_epoch()}
        if keep == "best_and_last" and epochs:
            kept.add(best_epoch(epochs))
        for epoch in self.folder.checkpoint_epochs():
            if epoch not in kept:
                self.folder.checkpoint(epoch).unlink()

    def _save_partial_epoch(self) -> None:
        """Where training stopped within an epoch, fairseq saves no epoch checkpoint: do it here."""
        path = self.folder.checkpoint(self._batches.epoch)
        if not self._batches.end_of_epoch() and not path.exists():
            self.trainer.save_checkpoint(str(path), {"train_iterator": self._batches.state_dict(), "val_loss": None})
            self._prune()


def best_epoch(epochs: list[Record]) -> int:
    """The epoch of the least validation nll."""
    return min(epochs, key=lambda record: record["valid_nll"])["epoch"]


def _nats(meter: Any) -> float:
    """fairseq counts in bits."""
    return float(meter.avg) * math.log(2)


def _forget_earlier_runs() -> None:
    """fairseq keeps meters and best scores in the process; a sweep's worker trains many runs in one."""
    metrics.reset()
    for function in (checkpoint_utils.save_checkpoint, fairseq_train.should_stop_early):
        vars(function).clear()


def leftovers(checkpoints: Path) -> list[Path]:
    """What a crash or a kill may leave beside whole checkpoints: fairseq's crash dump and half-written files."""
    return [*checkpoints.glob("crash.pt*"), *checkpoints.glob("*.tmp")]
