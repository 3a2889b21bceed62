"""Train many runs as one array; each has its own folder, and can go on alone or in another array."""

import logging
from collections.abc import Callable, Sequence
from contextlib import ExitStack

from omegaconf import DictConfig, OmegaConf

from lnexp.configuration import check, check_device
from lnexp.corpora.prepare import prepare
from lnexp.errors import UserError
from lnexp.runs.checkpoint_retention import keep_for_good
from lnexp.runs.common_epoch import at_one_epoch, common_epoch
from lnexp.runs.environment import environment
from lnexp.runs.folder import RunFolder
from lnexp.runs.lock import RunBusyError, held
from lnexp.runs.records import Record
from lnexp.training.console import logging_to, say
from lnexp.training.journal import Journal
from lnexp.training.run import announce, announce_end, drop_leftovers, import_fairseq, mark_failed

#: What became of a member: its folder, or why it was not trained.
Outcome = RunFolder | Exception


def train_array(cfgs: Sequence[DictConfig]) -> list[Outcome]:
    """Train runs that :func:`lnexp.launchers.groups.group` puts together; what became of each.

    A run that is done is skipped, one that another process trains is left to it, and one whose folder is damaged fails
    alone. The others begin where they all have a checkpoint, in more arrays than one where they have none in common; an
    error in training is everybody's in the array.
    """
    for cfg in cfgs:
        check(cfg)
        OmegaConf.resolve(cfg)
    check_device(cfgs[0])
    outcomes: dict[int, Outcome] = {}
    with ExitStack() as locks:
        for number, cfg in enumerate(cfgs):
            try:
                outcome = _begin(cfg, locks)
            except (UserError, OSError) as error:
                mark_failed(RunFolder.of(cfg), error)
                outcome = error
            if outcome is not None:
                outcomes[number] = outcome
        members = [number for number in range(len(cfgs)) if number not in outcomes]
        kept = [RunFolder.of(cfgs[number]).checkpoint_epochs() for number in members]
        for part in at_one_epoch(kept):  # more than one where a checkpoint turned out to be damaged
            numbers = [members[place] for place in part]
            outcomes |= zip(numbers, _train_members([cfgs[number] for number in numbers]), strict=True)
    return [outcomes[number] for number in range(len(cfgs))]


def _begin(cfg: DictConfig, locks: ExitStack) -> Outcome | None:
    """Lock a run; None where it is to be trained."""
    try:
        locks.enter_context(held(cfg.runs_dir, RunFolder.of(cfg).identity))
    except RunBusyError as error:
        return error
    folder = RunFolder.of(cfg)  # another process may have made it meanwhile, and finished
    if cfg.force and folder.path.exists():
        folder.clear()
    elif folder.is_done:
        say(f"{folder.name}: {folder.status['state']} already, skipped")
        return folder
    folder.epochs()  # raises for records that are none
    folder.checkpoints.mkdir(parents=True, exist_ok=True)
    drop_leftovers(folder)
    return None


def _train_members(cfgs: Sequence[DictConfig]) -> list[Outcome]:
    """What became of each of the runs, which are locked, in one array."""
    folders = [RunFolder.of(cfg) for cfg in cfgs]
    try:
        _train_locked(cfgs, folders)
    except Exception as error:
        for folder in folders:
            mark_failed(folder, error)
        return [_without_frames(error)] * len(folders)
    return list(folders)


def _without_frames(error: Exception) -> Exception:
    """The error alone: its frames, and those of what led to it, hold the array and the memory that it takes."""
    error.__context__ = error.__cause__ = None
    return error.with_traceback(None)


def _train_locked(cfgs: Sequence[DictConfig], folders: Sequence[RunFolder]) -> None:
    for cfg, folder in zip(cfgs, folders, strict=True):
        folder.set_status("running")
        folder.write_config(cfg)
    from_epoch = common_epoch(folders)
    for folder in folders:
        folder.drop_after(from_epoch)
    with logging_to([folder.log for folder in folders]):
        corpus = prepare(cfgs[0].data, cfgs[0].data_dir)
        engine = import_fairseq("lnexp.training.arrays.engine").ArrayEngine(cfgs, folders, corpus)
        array = {"array": [folder.identity for folder in folders]}
        for cfg, folder in zip(cfgs, folders, strict=True):
            folder.write_environment(environment(engine.device, corpus.manifest) | array)
            announce(cfg, folder, from_epoch + 1, len(folders))
        with ExitStack() as stack:
            journals = [stack.enter_context(Journal(*run, from_epoch + 1)) for run in zip(cfgs, folders, strict=True)]
            _train(engine, from_epoch, lambda member, record: journals[member].add(record))
            ends = engine.test()
            for journal, end in zip(journals, ends, strict=True):
                journal.add(end)
        for member, (folder, end) in enumerate(zip(folders, ends, strict=True)):
            why, updates = engine.diverged.get(member, ("", engine.updates))
            folder.drop_leftovers()
            folder.set_status("diverged" if member in engine.diverged else "finished", why, updates)
            keep_for_good(folder, cfgs[member])
            announce_end(folder, end)


def _train(engine, from_epoch: int, on_epoch: Callable[[int, Record], None]) -> None:
    try:
        engine.train(from_epoch, on_epoch)
    except Exception:
        logging.exception("training failed")  # into every train.log: a sweep keeps no traceback
        raise
