"""Train, validate, save and test runs: fairseq's trainer with a record of every member after each epoch."""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import ExitStack
from functools import cache, partial
from typing import Any

from fairseq.logging import metrics

import lnexp.training.interventions  # noqa: F401  (registers them)
from lnexp.corpora.prepare import PreparedCorpus
from lnexp.fairseq_config import to_fairseq
from lnexp.plugin.divergence import EveryMemberDivergedError
from lnexp.plugin.warmup_schedule import set_end
from lnexp.runs.checkpoint_retention import epochs_to_average, keep_while_training
from lnexp.runs.records import Record
from lnexp.safe_loading import load
from lnexp.tasks.contract import Member
from lnexp.training.checkpoints import averaged_model
from lnexp.training.diagnostic import Watched
from lnexp.training.intervention import intervene
from lnexp.training.journal import say
from lnexp.training.layer_probe import LayerProbe, shown_batches
from lnexp.training.loop import Loop
from lnexp.training.models.base import Models, StopsWithinEpoch
from lnexp.training.models.single import SingleModel
from lnexp.training.ranks import ALONE, Ranks
from lnexp.training.signals import DeferredSignals
from lnexp.training.snapshots import Snapshots
from lnexp.training.update_series import UpdateSeries

#: Takes the number of a member and a record of it.
OnRecord = Callable[[int, Record], None]


class Engine(Loop):
    """Trains the members, which are one run, or the runs of an array.

    A member's record is written before its checkpoint: if the process is killed between the two, the epoch is trained
    again, and no checkpoint is without a record.

    Args:
        members: the runs, each with its config and folder; their configs agree on everything that members share.
        corpus: the prepared corpus of all of them.
        kind: how their models are trained.
        show_progress: whether a bar is drawn on standard error.
        ranks: the processes that train together.

    Attributes:
        diverged: why a member diverged and how many updates it had made, by its number.

    Raises:
        UserError: for settings that ``kind`` cannot train, or data that fits no batch.
    """

    def __init__(
        self,
        members: Sequence[Member],
        corpus: PreparedCorpus,
        kind: type[Models] = SingleModel,
        show_progress: bool = False,
        ranks: Ranks = ALONE,
    ):
        self.members = dict(enumerate(members))
        self.diverged: dict[int, tuple[str, int]] = {}
        self._on_record: OnRecord = lambda member, record: self.members[member].folder.append(record)
        cfg = members[0].cfg
        singles = [to_fairseq(member.cfg, corpus.bin, member.folder.checkpoints) for member in members]
        kind.abilities.refuse(cfg, singles[0], ranks)
        cfgs = [member.cfg for member in members]
        super().__init__(cfgs, kind.fairseq_config(singles, cfg.precision), corpus, show_progress, ranks)
        self.models = kind(self.trainer, members, singles, ranks)
        intervene(cfg, self.task, self.models)
        self._signals = DeferredSignals(ranks)

    @property
    def alive(self) -> dict[int, Member]:
        """The members that have not diverged, by number."""
        return {number: member for number, member in self.members.items() if number not in self.diverged}

    def train(self, on_record: OnRecord | None = None) -> None:
        """Train from the newest checkpoints, or from the start, to the end or until every member has diverged.

        If the models can stop within an epoch, a signal to stop saves a checkpoint after the current update; during a
        validation, after the validation has ended.

        Args:
            on_record: called with every record; by default it is appended to the member's folder.
        """
        self._on_record = on_record or self._on_record
        with ExitStack() as stack:
            if isinstance(self.models, StopsWithinEpoch):
                stack.enter_context(self._signals)
            stack.enter_context(self.models.saving())
            try:
                self._train_epochs()
            except FloatingPointError as error:
                if self.models.stacked:  # which freezes members by itself
                    raise
                self._series.add_failed()
                self._record_updates()
                self._note_diverged(0, str(error), self.updates)
            except EveryMemberDivergedError:
                self._series.add_failed()
            self._record_updates()  # of an epoch that ended early
        self._note_frozen()  # also of an epoch that ended without a validation

    def _restore(self) -> Any:
        for options in self.models.schedule_options(self.fairseq):
            set_end(options, self._total_updates)
        self.trainer.build_schedule()
        return self.models.restore()

    def _hook_in(self) -> None:
        """Also have the trainer call us before and after each update."""
        super()._hook_in()
        self._series = UpdateSeries(self.trainer, self.models, self.ranks)
        self._snapshots = Snapshots(self.cfg.diagnostics.at, self._watched())
        self.trainer.before_update.append(lambda: self._snapshots.begin(self.updates + 1))
        models = self.models
        self.trainer.after_update += [
            # fairseq sets the number before an update; probes, snapshots, validations and checkpoints come after it
            lambda: self.model.set_num_updates(self.updates),
            *self._probing(),
            self._look_at_update,
            *([partial(self._stop_within_epoch_if_requested, models)] if isinstance(models, StopsWithinEpoch) else []),
        ]

    def _watched(self) -> Watched:
        """Return what snapshots look at."""
        fixed_batch = cache(lambda: shown_batches(self, 1)[0])
        products, state_changes = self.cfg.diagnostics.sharpness, self.cfg.diagnostics.state_changes
        if products or state_changes:
            fixed_batch()  # now, because building it sets the training data to their first epoch
        return Watched.of(self.models, self.criterion, fixed_batch, products=products, state_changes=state_changes)

    def _look_at_update(self) -> None:
        """Keep what the update has measured, and record it before a checkpoint can be saved that follows the update."""
        self._series.add()
        trained = [number for number in self.alive if number not in self.models.frozen]
        for member, record in self._snapshots.records(self._batches.epoch, self.updates, trained):
            self._on_record(member, record)
        every = self.fairseq.checkpoint.save_interval_updates
        saves_within = every > 0 and self.updates % every == 0
        if saves_within or self._batches.end_of_epoch() or self.updates >= self._last_update:
            self._record_updates()

    def _record_updates(self) -> None:
        """Record the updates since this was last done, before members that were frozen meanwhile are noted."""
        for member, record in self._series.records(self._batches.epoch, self.alive):
            self._on_record(member, record)

    def _probing(self) -> list[Callable[[], None]]:
        """Return what records the findings of a probe after every update where one is due, and do so before the first
        update; empty where no probe is asked for.
        """
        if not self.cfg.probes.every:
            return []
        probe = LayerProbe(self, self.cfg.probes.every, self.cfg.probes.batches)

        def look() -> None:
            for record in probe.records(self._batches.epoch, self.updates):
                self._on_record(0, record)

        if not self.updates:
            look()
        return [look]

    def _stop_within_epoch_if_requested(self, models: StopsWithinEpoch) -> None:
        """Save within the epoch and stop, if one of the processes received a signal to stop."""
        is_last = self._batches.end_of_epoch() or self.updates >= self._last_update
        if self._stop_requested and not is_last:  # after the last one the epoch is validated first
            self._record_updates()
            path = self.members[0].folder.saved.within(self._batches.epoch, self.updates)
            models.save_within_epoch(path, self._batches)
            self._stop()

    def _between_epochs(self) -> None:
        if self._stop_requested:
            self._stop()

    @property
    def _stop_requested(self) -> bool:
        return self.ranks.any(bool(self._signals.pending))

    def _stop(self) -> None:
        """Deliver the signal, once the other processes need nothing from this one."""
        if self.ranks.leads:
            command = "command without force=true" if self.cfg.force else "command"
            saved = f"received a signal: saved after update {self.updates}; the same {command} resumes"
            say(f"{self.members[0].folder.name} | {saved}")
        self.ranks.gather(None)
        self._signals.deliver()

    def _after_validation(self, epoch: int, valid: Any) -> None:
        self._record_updates()  # where the epoch's last batch made no update, as it overflows in fp16
        self.models.finish_saving()
        self._note_frozen()
        losses = self.models.losses(valid, metrics.get_meters("train"))
        for member in self.alive:
            if not math.isfinite(losses[member].valid_loss):
                self._freeze(member, f"validation loss is {losses[member].valid_loss}")
        if self.alive:
            measured = self.evaluation.validate(self.models, epoch, self.alive)
            for member in self.alive:
                if member not in measured:
                    self._freeze(member, self.evaluation.failure)
                    continue
                schedule = self.models.schedule(member)
                record = self._epoch_record(epoch, losses[member], measured[member], schedule)
                self._on_record(member, record | self.models.record_fields)
        if not self.alive:
            raise EveryMemberDivergedError
        self.models.save(epoch, list(self.alive), self._batches)

    def _note_frozen(self) -> None:
        """Note the members that the optimizer had to freeze."""
        for member, updates in self.models.frozen.items():
            self._note_diverged(member, "gradients are Nan/Inf", updates)

    def _freeze(self, member: int, why: str) -> None:
        self.models.freeze(member)
        self._note_diverged(member, why, self.updates)

    def _note_diverged(self, member: int, why: str, updates: int) -> None:
        self.diverged.setdefault(member, (why, updates))

    def _stopped_within_epoch(self) -> None:
        self.models.save_unfinished(self._batches.epoch, self._batches)

    def _after_save(self) -> None:
        """Drop the checkpoints that are not needed any more, after fairseq has saved one."""
        keep_while_training(self.members[0].folder, self.cfg)

    def test(self) -> list[Record]:
        """Test each member's best checkpoint; of a diverged member the last checkpoint that can be tested.

        Returns:
            Every member's ``end`` record. Where the run asks for it, and has not diverged, it also has the scores of
            the average of its last checkpoints.
        """
        ends: dict[int, Record] = {}
        left = {number: self._epochs_to_test(number) for number in self.members}
        while left := {number: epochs for number, epochs in left.items() if epochs}:
            found = self._test_checkpoints({number: epochs[0] for number, epochs in left.items()})
            ends |= found
            left = {number: epochs[1:] for number, epochs in left.items() if number not in found}
        for number, fields in self._test_averages([number for number in self.alive if number in ends]).items():
            ends[number] |= fields
        return [ends.get(number) or _end_record(None, self.contract.no_scores()) for number in self.members]

    def _epochs_to_test(self, number: int) -> list[int]:
        folder = self.members[number].folder
        return self.ranks.first(lambda: folder.epochs_to_test(number in self.diverged))

    def _test_checkpoints(self, epochs: Mapping[int, int]) -> dict[int, Record]:
        """Return the ``end`` records of members, from the checkpoints of these epochs."""
        found: dict[int, Record] = {}
        for part in self.models.loadable_together(epochs):
            for number, epoch in part.items():
                self.models.load(number, load(self.members[number].folder.saved.of_epoch(epoch))["model"])
            scores = self._test("test", part)
            found |= {number: _end_record(epochs[number], scores[number]) for number in scores}
        return found

    def _test_averages(self, numbers: Sequence[int]) -> dict[int, Record]:
        """Return what the average of the last checkpoints adds to the ``end`` records of members."""
        epochs: dict[int, list[int]] = {}
        for number in numbers:
            last = self._epochs_to_average(self.members[number])
            if last:
                paths = [self.members[number].folder.saved.of_epoch(epoch) for epoch in last]
                self.models.load(number, averaged_model(paths))
                epochs[number] = last
        scores = self._test("test.averaged", epochs) if epochs else {}
        return {
            number: {"averaged_epochs": epochs[number], **self.contract.averaged_scores(scores[number])}
            for number in scores
        }

    def _test(self, name: str, numbers: Iterable[int]) -> dict[int, Record]:
        """Return the scores of the loaded models of members on the test data; ``name`` is the test's."""
        return self.evaluation.test(self.models, name, {number: self.members[number] for number in numbers})

    def _epochs_to_average(self, member: Member) -> list[int]:
        return self.ranks.first(lambda: epochs_to_average(member.folder, member.cfg))


def _end_record(epoch: int | None, scores: Record) -> Record:
    """Return the ``end`` record of a run from the scores of its checkpoint of ``epoch``; None where it has none."""
    return {"kind": "end", "checkpoint_epoch": epoch, **scores}
