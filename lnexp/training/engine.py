"""One run: fairseq's trainer with a record after each epoch."""

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

from fairseq import checkpoint_utils
from fairseq.logging import metrics
from omegaconf import DictConfig

from lnexp.corpora.prepare import PreparedCorpus
from lnexp.fairseq_config import to_fairseq
from lnexp.runs.checkpoint_retention import keep_while_training
from lnexp.runs.folder import RunFolder
from lnexp.runs.records import Record
from lnexp.training.averaging import averaged_model
from lnexp.training.console import say
from lnexp.training.layer_probe import LayerProbe
from lnexp.training.loop import Loop
from lnexp.training.plain_checkpoint import load, only_plain_values
from lnexp.training.ranks import ALONE, Ranks
from lnexp.training.scores import averaged_scores, end_record, valid_scores, whole_valid_is_due, whole_valid_scores
from lnexp.training.signals import Notice
from lnexp.training.translate import FirstSentences, translate

#: Takes a record as soon as it is there, of a probe or of an epoch.
OnRecord = Callable[[Record], None]


class Engine(Loop):
    """One run's task, model and trainer.

    fairseq itself saves; we hook in after a validation (to translate and record) and after a save (to prune). A record
    comes before its checkpoint: a kill between the two repeats an epoch, and leaves no checkpoint without a record.
    """

    def __init__(
        self, cfg: DictConfig, folder: RunFolder, corpus: PreparedCorpus, show_progress: bool, ranks: Ranks = ALONE
    ):
        self.folder = folder
        self._on_record: OnRecord = folder.append
        self._notice = Notice()
        super().__init__(cfg, to_fairseq(cfg, corpus.bin, folder.checkpoints), corpus, show_progress, ranks)

    def train(self, on_record: OnRecord) -> None:
        """Train from the newest checkpoint, or from the start, to the last epoch.

        A signal to stop is answered after the update that is under way, with a checkpoint; in a validation after it.

        Raises:
            FloatingPointError: where loss or gradients stop being finite, or fp16's loss scale reaches its minimum.
        """
        self._on_record = on_record
        with self._notice:
            self._train_epochs()

    def _restore(self) -> Any:
        self._fill_in_total_updates(self.fairseq.lr_scheduler)
        self._build_schedule()
        newest = self.ranks.first(self.folder.newest_checkpoint)
        if newest:
            self.fairseq.checkpoint.restore_file = str(newest)
        with only_plain_values(newest):
            _, epoch_itr = checkpoint_utils.load_checkpoint(self.fairseq.checkpoint, self.trainer)
        places = self.ranks.gather((self.updates, epoch_itr.epoch, epoch_itr.iterations_in_epoch))
        if len(set(places)) > 1:
            raise RuntimeError(f"the processes of this run do not see one checkpoint: update, epoch and batch {places}")
        self.trainer.after_update.append(self._stop_if_told)
        if self.cfg.probes.every:
            self._probe_along(LayerProbe(self, self.cfg.probes.every, self.cfg.probes.batches))
        return epoch_itr

    def _probe_along(self, probe: LayerProbe) -> None:
        """Record what the probe finds before the first update, and after every update where one is due."""

        def look() -> None:
            epoch = self._batches.epoch if self._batches else 1
            for record in probe.records(epoch, self.updates):
                self._on_record(record)

        self.trainer.after_update.insert(0, look)
        if not self.updates:
            look()

    def _stop_if_told(self) -> None:
        """Save within the epoch, if one of the processes was told to stop, and let it."""
        if self.ranks.any(bool(self._notice.pending)) and not self._batches.end_of_epoch():
            self._save(self.folder.checkpoint_within(self._batches.epoch, self.updates))
            self._stop()

    def _between_epochs(self) -> None:
        if self.ranks.any(bool(self._notice.pending)):
            self._stop()

    def _stop(self) -> None:
        """Hand the signal on, once the others need nothing any more from this process."""
        if self.ranks.leads:
            say(f"{self.folder.name} | told to stop: saved after update {self.updates}")
        self.ranks.gather(None)
        self._notice.hand_on()

    def _after_validation(self, epoch: int, valid: Any) -> None:
        loss = float(valid["loss"].avg)
        if not math.isfinite(loss):
            raise FloatingPointError(f"validation loss is {loss}")
        hypotheses = self._translate("valid", self.cfg.evaluation.valid_beam, self.cfg.evaluation.valid_sentences)
        self._write_hypotheses(f"valid.epoch{epoch}", hypotheses)
        scores = valid_scores(hypotheses, self.corpus, self.cfg)
        if whole_valid_is_due(epoch, self.cfg):
            whole = self._translate("valid", self.cfg.evaluation.valid_beam, 0)
            scores |= whole_valid_scores(whole, self.corpus, self.cfg)
        train, nll = metrics.get_meters("train"), float(valid["nll_loss"].avg)
        norm, schedule = train["gnorm"].avg, self.trainer.lr_scheduler
        self._on_record(self._epoch_record(epoch, loss, nll, scores, train["loss"].avg, norm, schedule))

    def test(self, epoch: int) -> Record:
        """Translate the test set with the checkpoint of ``epoch``, and return the ``end`` record.

        Raises:
            FloatingPointError: where the model's scores are not finite.
        """
        hypotheses = self._translate_test("test", load(self.folder.checkpoint(epoch))["model"])
        return end_record(epoch, hypotheses, self.corpus, self.cfg)

    def test_average(self, epochs: list[int]) -> Record:
        """The same with the average of the checkpoints of ``epochs``; what it adds to the ``end`` record.

        Raises:
            FloatingPointError: where the model's scores are not finite.
        """
        model = averaged_model([self.folder.checkpoint(epoch) for epoch in epochs])
        return averaged_scores(epochs, self._translate_test("test.averaged", model), self.corpus, self.cfg)

    def _translate_test(self, name: str, model: dict[str, Any]) -> list[str]:
        self.model.load_state_dict(model, strict=True, model_cfg=self.fairseq.model)
        hypotheses = self._translate("test", self.cfg.evaluation.test_beam, 0)
        self._write_hypotheses(name, hypotheses)
        return hypotheses

    def _translate(self, split: str, beam: int, count: int) -> list[str]:
        sentences = FirstSentences(self.task.dataset(split), count, self.ranks)
        post_process = self.cfg.data.post_process
        return translate(self.task, self.model, sentences, self.cfg.evaluation, beam, post_process)

    def _write_hypotheses(self, name: str, hypotheses: list[str]) -> None:
        if self.ranks.leads:
            self.folder.write_hypotheses(name, hypotheses)

    def _after_save(self) -> None:
        keep_while_training(self.folder, self.cfg)

    def _stopped_within_epoch(self) -> None:
        """fairseq saves no epoch checkpoint then: do it here."""
        path = self.folder.checkpoint(self._batches.epoch)
        if self.ranks.leads and not path.exists():
            self._save(path)
            self._after_save()

    def _save(self, path: Path) -> None:
        self.trainer.consolidate_optimizer()
        self.trainer.save_checkpoint(str(path), {"train_iterator": self._batches.state_dict(), "val_loss": None})
