"""Train a single run, or the runs of an array: claim their folders, train, test and record them."""

import logging
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from typing import TYPE_CHECKING, Any

from omegaconf import DictConfig

from lnexp.configuration import check_and_resolve
from lnexp.errors import RefusedConfigError, UserError
from lnexp.extensions import in_extension
from lnexp.processes import without_garbage_collection
from lnexp.runs import own_files
from lnexp.runs.checkpoint_retention import keep_for_good
from lnexp.runs.code import digests
from lnexp.runs.common_epoch import at_one_epoch, common_epoch
from lnexp.runs.environment import Environment, continued, environment
from lnexp.runs.folder import RunFolder
from lnexp.runs.records import Record
from lnexp.tasks import task_of
from lnexp.tasks.contract import Member
from lnexp.training.claim import claim, mark_failed
from lnexp.training.journal import Journal, announce, announce_end, logging_to
from lnexp.training.ranks import ALONE, Ranks, is_lost, joined
from lnexp.training.shares import share

if TYPE_CHECKING:
    from lnexp.training.engine import Engine
    from lnexp.training.models.base import Models

#: What became of a member of an array: its folder, or why it was not trained.
Outcome = RunFolder | Exception


def train_run(cfg: DictConfig, show_progress: bool = False) -> RunFolder:
    """Train the run of a config and return its folder.

    A finished or diverged run is skipped, an interrupted one is resumed from its newest checkpoint, and ``force``
    trains afresh. Where torchrun or SLURM started this process as one of several, all of them train the run together.

    Args:
        cfg: the composed config.
        show_progress: whether a bar for each epoch is drawn on standard error.

    Raises:
        UserError: for settings or data that cannot work; a RunBusyError where another process trains the same run, a
            RankLostError where one of its own processes ends.
        OSError: where the disk is full or a folder cannot be written; the run is then marked ``failed``.
    """
    check_and_resolve(cfg)
    with joined(cfg.device) as ranks, ExitStack() as locks:
        share(cfg.update_freq, ranks)  # here, before anything is written
        folder, is_done = ranks.first(lambda: claim(cfg, locks))
        if not is_done:
            _train([Member(cfg, folder)], in_array=False, show_progress=show_progress, ranks=ranks)
    return folder


def train_array(cfgs: Sequence[DictConfig]) -> list[Outcome]:
    """Train the runs of a group, see :func:`lnexp.launchers.array_launcher.group`, as one array.

    A finished run is skipped, one that another process trains is left to it, and one whose folder is damaged fails
    alone. The others begin where they all have a checkpoint, in several arrays where they have none in common. An error
    in training is the outcome of every run in the array.

    Args:
        cfgs: the composed configs of the runs.

    Returns:
        The outcome of each, in their order.
    """
    for cfg in cfgs:
        check_and_resolve(cfg)
    outcomes: dict[int, Outcome] = {}
    claimed: dict[int, Member] = {}
    with ExitStack() as locks:
        for number, cfg in enumerate(cfgs):
            try:
                folder, is_done = claim(cfg, locks)
            except (UserError, OSError) as error:
                outcomes[number] = error
                continue
            if is_done:
                outcomes[number] = folder
            else:
                claimed[number] = Member(cfg, folder)
        numbers = list(claimed)
        kept = [claimed[number].folder.saved.epochs() for number in numbers]
        for part in at_one_epoch(kept):  # several where a checkpoint turned out to be damaged
            outcomes |= _train_part({numbers[place]: claimed[numbers[place]] for place in part})
    return [outcomes[number] for number in range(len(cfgs))]


def _train_part(members: dict[int, Member]) -> dict[int, Outcome]:
    """Train claimed members as one array, and return the outcome of each."""
    try:
        _train(list(members.values()), in_array=True)
    except Exception as error:
        return dict.fromkeys(members, without_frames(error))
    return {number: member.folder for number, member in members.items()}


def without_frames(error: Exception) -> Exception:
    """Return the error alone: its frames, and those of its causes, hold the model and the memory that it takes."""
    error.__context__ = error.__cause__ = None
    return error.with_traceback(None)


def _train(members: Sequence[Member], in_array: bool, show_progress: bool = False, ranks: Ranks = ALONE) -> None:
    """Train claimed members together.

    An error marks them as failed, unless only another process was lost; a config that is refused leaves no folder.
    Before their first records it costs nothing that they had.
    """
    try:
        with _keeping_what_they_had(members, ranks):
            _train_claimed(members, in_array, show_progress, ranks)
    except Exception as error:
        too_large = _is_out_of_memory(error)
        named = None if too_large else in_extension(error)
        if isinstance(error, RefusedConfigError):
            ranks.first(lambda: _remove_new(members))
        elif not (too_large and len(members) > 1) and (ranks.size == 1 or not is_lost(error)):
            for member in members:
                mark_failed(member.folder, named or error, ranks)
        if named:
            raise named from error
        raise


@contextmanager
def _keeping_what_they_had(members: Sequence[Member], ranks: Ranks) -> Iterator[None]:
    """Bring back what was set aside of members that have not recorded an update; not for an array that is too large,
    whose halves are to begin.
    """
    try:
        yield
    except BaseException as error:
        if ranks.leads and not (len(members) > 1 and _is_out_of_memory(error)):
            for member in members:
                own_files.bring_back(member.folder.path)
        raise


def _is_out_of_memory(error: BaseException) -> bool:
    """Return whether memory was too small; an array is then trained again, in halves."""
    from lnexp.training.memory import is_out_of_memory  # here, for torch takes long to import

    return is_out_of_memory(error)


def _train_claimed(members: Sequence[Member], in_array: bool, show_progress: bool, ranks: Ranks) -> None:
    ranks.first(lambda: _mark_running(members))
    # before fairseq, which logs at import
    with logging_to([member.folder.log_of(ranks.rank) for member in members]), _errors_logged():
        kind = _kind_of_models(in_array)
        from lnexp.training.engine import Engine
        from lnexp.training.models.base import StopsWithinEpoch

        cfg = members[0].cfg
        corpus = ranks.first(lambda: task_of(cfg).prepare(cfg.data, cfg.data_dir))
        engine = Engine(members, corpus, kind, show_progress and ranks.leads, ranks)
        # not before: what the engine refuses must not cost a checkpoint
        first_epoch = ranks.first(lambda: _rewind(members, issubclass(kind, StopsWithinEpoch)))
        if ranks.leads:
            _begin(engine, corpus.manifest, first_epoch)
        with ExitStack() as stack:
            journals = [stack.enter_context(Journal(member, first_epoch, ranks)) for member in members]

            def add(number: int, record: Record) -> None:
                if ranks.leads and record.get("update") != 0:  # not of a probe before the first update
                    own_files.forget_earlier(members[number].folder.path)
                journals[number].add(record)

            engine.train(add)
            ends = engine.test()
            for journal, end in zip(journals, ends, strict=True):
                journal.add(end)
        if ranks.leads:
            for number, end in enumerate(ends):
                _finish(engine, number, end)


def _remove_new(members: Sequence[Member]) -> None:
    """Remove the folders of runs that nothing was trained of, so that nobody counts them among the runs."""
    for folder in (member.folder for member in members):
        if not (folder.epochs() or folder.saved.newest()):
            own_files.clear(folder.path)
            with suppress(OSError):  # others have put something into it
                folder.path.rmdir()


def _mark_running(members: Sequence[Member]) -> None:
    for member in members:
        member.folder.set_status("running")
        member.folder.write_config(member.cfg)


def _rewind(members: Sequence[Member], within_epoch: bool) -> int:
    """Delete what members have beyond the checkpoint that they are resumed from.

    Args:
        members: claimed.
        within_epoch: whether they can be resumed within an epoch.

    Returns:
        The epoch to train next.
    """
    last_epoch = common_epoch([member.folder for member in members])
    for member in members:
        member.folder.drop_after(last_epoch, member.folder.saved.last_update_within() if within_epoch else 0)
    return last_epoch + 1


def _begin(engine: "Engine", manifest: dict[str, Any], first_epoch: int) -> None:
    """Record what the members are trained on and with, and announce them."""
    folders = [member.folder for member in engine.members.values()]
    together = Environment(processes=engine.ranks.size)
    if engine.models.stacked:
        together = Environment(array=[folder.identity for folder in folders])
    shared = environment(engine.device, manifest) | together
    for member in engine.members.values():
        now = shared | Environment(code=digests(member.cfg))
        is_resumed = member.folder.saved.newest() is not None
        member.folder.write_environment(continued(now, member.folder.environment) if is_resumed else now)
        announce(member, first_epoch, len(folders), engine.ranks)


@contextmanager
def _errors_logged() -> Iterator[None]:
    try:
        yield
    except Exception:
        logging.exception("training failed")  # into train.log: a sweep keeps no traceback
        raise


def _finish(engine: "Engine", number: int, end: Record) -> None:
    """Write a member's final status, keep the checkpoints it is to keep, and announce its end."""
    member, (why, updates) = engine.members[number], engine.diverged.get(number, ("", engine.updates))
    member.folder.drop_leftovers()
    member.folder.set_status("diverged" if number in engine.diverged else "finished", why, updates)
    keep_for_good(member.folder, member.cfg)
    announce_end(member, end)


def _kind_of_models(in_array: bool) -> "type[Models]":
    with without_garbage_collection():
        if in_array:
            from lnexp.training.models.array import ArrayModels

            return ArrayModels
        from lnexp.training.models.single import SingleModel

        return SingleModel
