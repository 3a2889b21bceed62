"""An array of runs: fairseq's trainer over all of them at once, with a record of each after every epoch."""

import math
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from typing import Any

from fairseq.logging import metrics
from omegaconf import DictConfig

from lnexp.corpora.prepare import PreparedCorpus
from lnexp.errors import UserError
from lnexp.fairseq_config import to_fairseq
from lnexp.plugin.arrays.optimizer import EveryMemberDivergedError
from lnexp.runs.checkpoint_retention import epochs_to_average, keep_while_training
from lnexp.runs.folder import RunFolder
from lnexp.runs.records import Record
from lnexp.training.arrays.checkpoints import load_member_model, load_members, member_checkpoint, write_checkpoint
from lnexp.training.arrays.config import as_array
from lnexp.training.arrays.translate import translate_array
from lnexp.training.averaging import averaged_model
from lnexp.training.loop import Loop
from lnexp.training.plain_checkpoint import load
from lnexp.training.scores import (
    averaged_scores,
    end_record,
    no_end_record,
    valid_scores,
    whole_valid_is_due,
    whole_valid_scores,
)
from lnexp.training.translate import NO_HYPOTHESIS, FirstSentences

#: Takes the number of a member and a record of it.
OnMember = Callable[[int, Record], None]


class ArrayEngine(Loop):
    """The members' runs, each with its own folder, in one model.

    All of them have the same batches in the same order. A member that diverges is frozen, and the others go on.

    Attributes:
        diverged: why a member diverged and how many updates it had made, by its number.
    """

    def __init__(self, cfgs: Sequence[DictConfig], folders: Sequence[RunFolder], corpus: PreparedCorpus):
        if cfgs[0].probes.every:
            raise UserError(f"probes.every={cfgs[0].probes.every}: an array has no probes; take another launcher")
        self.cfgs, self.folders = cfgs, folders
        self.singles = [
            to_fairseq(cfg, corpus.bin, folder.checkpoints) for cfg, folder in zip(cfgs, folders, strict=True)
        ]
        self.diverged: dict[int, tuple[str, int]] = {}
        self._writing: dict[int, Future] = {}  # the checkpoint of the last epoch, by member
        self._on_epoch: OnMember = lambda member, record: folders[member].append(record)
        super().__init__(cfgs[0], as_array(self.singles, cfgs[0].precision), corpus, show_progress=False)

    def train(self, from_epoch: int, on_epoch: OnMember) -> None:
        """Train from the checkpoints of epoch ``from_epoch``, or from the start where that is 0, to the last epoch."""
        self._from_epoch, self._on_epoch = from_epoch, on_epoch
        with ThreadPoolExecutor(self.cfg.threads) as self._writers:  # waited for, after an error too
            with suppress(EveryMemberDivergedError):
                self._train_epochs()
            self._finish_saving()
        self._note_diverged()  # also of an epoch that ended without a validation

    @property
    def alive(self) -> list[int]:
        """The members that have not diverged."""
        return [member for member in range(len(self.cfgs)) if member not in self.diverged]

    def _restore(self) -> Any:
        for options in self.fairseq.lr_scheduler.members:
            self._fill_in_total_updates(options)
        self._build_schedule()
        if not self._from_epoch:
            batches = self.trainer.get_train_iterator(1, load_dataset=True)
        else:
            position = load_members(self.trainer, [folder.checkpoint(self._from_epoch) for folder in self.folders])
            batches = self.trainer.get_train_iterator(position["epoch"], load_dataset=True)
            batches.load_state_dict(position)
        self.trainer.lr_step(batches.epoch)
        return batches

    def _after_validation(self, epoch: int, valid: Any) -> None:
        losses, nlls = valid["member_loss"].avg.tolist(), valid["member_nll"].avg.tolist()
        evaluation = self.cfg.evaluation
        self._finish_saving()
        self._note_diverged()
        hypotheses = self._translate("valid", evaluation.valid_beam, evaluation.valid_sentences, self.alive)
        for member in self.alive:
            if not math.isfinite(losses[member]):
                self._freeze(member, f"validation loss is {losses[member]}")
            elif member not in hypotheses:
                self._freeze(member, NO_HYPOTHESIS)
        due = whole_valid_is_due(epoch, self.cfg)
        whole = self._translate("valid", evaluation.valid_beam, 0, self.alive) if due else {}
        train = metrics.get_meters("train")
        train_losses, norms = train["member_loss"].avg.tolist(), train["member_gnorm"].avg.tolist()
        for member in self.alive:
            self.folders[member].write_hypotheses(f"valid.epoch{epoch}", hypotheses[member])
            scores = valid_scores(hypotheses[member], self.corpus, self.cfgs[member])
            if member in whole:
                scores |= whole_valid_scores(whole[member], self.corpus, self.cfgs[member])
            record = self._epoch_record(
                epoch,
                losses[member],
                nlls[member],
                scores,
                train_losses[member],
                norms[member],
                self.trainer.lr_scheduler.members[member],
            )
            self._on_epoch(member, record | {"members": len(self.cfgs)})
        self._save(epoch)

    def _note_diverged(self) -> None:
        """Take over from the optimizer which members it had to freeze."""
        for member, updates in self.trainer.optimizer.frozen.items():
            self.diverged.setdefault(member, ("gradients are Nan/Inf", updates))

    def _freeze(self, member: int, why: str) -> None:
        self.trainer.optimizer.frozen[member] = self.updates
        self.diverged[member] = why, self.updates

    def _save(self, epoch: int) -> None:
        """Begin to write every checkpoint; for many members a disk takes as long as a GPU for an epoch."""
        position = self._batches.state_dict()
        for member in self.alive:
            state = member_checkpoint(self.trainer, member, self.singles[member], position)
            path = self.folders[member].checkpoint(epoch)
            self._writing[member] = self._writers.submit(write_checkpoint, state, path)

    def _finish_saving(self) -> None:
        """Wait for every checkpoint before any older one is dropped: all members then have one epoch in common."""
        written, self._writing = self._writing, {}
        for future in written.values():
            future.result()  # raises what went wrong
        for member in written:
            keep_while_training(self.folders[member], self.cfgs[member])

    def test(self) -> list[Record]:
        """Translate the test set with each member's best checkpoint; the ``end`` records.

        Of a diverged one it is the last that decodes.
        """
        ends = [no_end_record() for _ in self.cfgs]
        left = {
            member: epochs
            for member, folder in enumerate(self.folders)
            if (epochs := folder.epochs_to_test(member in self.diverged))
        }
        while left:
            for member, epochs in left.items():
                load_member_model(self.model, member, load(self.folders[member].checkpoint(epochs[0]))["model"])
            hypotheses = self._translate_test(list(left))
            for member, (epoch, *earlier) in list(left.items()):
                if member not in hypotheses:
                    left[member] = earlier
                else:
                    self.folders[member].write_hypotheses("test", hypotheses[member])
                    ends[member] = end_record(epoch, hypotheses[member], self.corpus, self.cfgs[member])
                    left[member] = []
            left = {member: epochs for member, epochs in left.items() if epochs}
        self._test_averages(ends)
        return ends

    def _test_averages(self, ends: list[Record]) -> None:
        """Add to the ``end`` records what the averages of the last checkpoints are worth."""
        averaged = {
            member: epochs
            for member in self.alive
            if (epochs := epochs_to_average(self.folders[member], self.cfgs[member]))
        }
        for member, epochs in averaged.items():
            paths = [self.folders[member].checkpoint(epoch) for epoch in epochs]
            load_member_model(self.model, member, averaged_model(paths))
        translated = self._translate_test(list(averaged)) if averaged else {}
        for member, hypotheses in translated.items():
            self.folders[member].write_hypotheses("test.averaged", hypotheses)
            ends[member] |= averaged_scores(averaged[member], hypotheses, self.corpus, self.cfgs[member])

    def _translate_test(self, members: Sequence[int]) -> dict[int, list[str]]:
        return self._translate("test", self.cfg.evaluation.test_beam, 0, members)

    def _translate(self, split: str, beam: int, count: int, members: Sequence[int]) -> dict[int, list[str]]:
        sentences = FirstSentences(self.task.dataset(split), count)
        post_process = self.cfg.data.post_process
        return translate_array(self.task, self.model, sentences, self.cfg.evaluation, beam, post_process, members)
