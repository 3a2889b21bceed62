"""Claim the folder of a run for training: lock it, refuse what must not be trained on, and make it ready."""

from contextlib import ExitStack, suppress

from omegaconf import DictConfig

from lnexp.configuration import check_device
from lnexp.errors import UserError
from lnexp.runs import own_files
from lnexp.runs.code import changes, is_over, is_trained_afresh, refuse_other_code
from lnexp.runs.folder import RunFolder, status_of
from lnexp.runs.lock import held
from lnexp.runs.measurements import lacking, measured_otherwise
from lnexp.runs.status import DONE
from lnexp.tasks import table_of, task_of
from lnexp.training.journal import say
from lnexp.training.longer import begin_after_shorter_run
from lnexp.training.ranks import ALONE, Ranks
from lnexp.training.same_data import on_other_data


def claim(cfg: DictConfig, locks: ExitStack) -> tuple[RunFolder, bool]:
    """Lock a run and make its folder ready; return the folder, and whether the run is done.

    Raises:
        RunBusyError: where another process trains it.
        UserError: where its records are damaged, or it was trained so far by other code or on other text; the run is
            then marked ``failed``, as it is after an OSError. Where its status is damaged, the device is missing, other
            code has finished it, or there is not the checkpoint that it starts from.
    """
    folder = RunFolder.of(cfg)
    if not is_over(cfg, folder):
        check_device(cfg)
        locks.enter_context(held(cfg.runs_dir, folder.identity))
        folder = RunFolder.of(cfg)  # again: another process may have made it meanwhile, and finished
        own_files.bring_back(folder.path)  # what a process had set aside that died before it began
    if is_over(cfg, folder):
        refuse_other_code(cfg, folder)
        with suppress(OSError):  # on a disk that can only be read
            folder.saved.drop_lone_checksums()
        less = lacking(cfg, folder)
        why = f"skipped: {less}" if less else "skipped"
        say(f"{folder.name}: {folder.status['state']} already{_by_other_code(cfg, folder)}, {why}")
        return folder, True
    task_of(cfg).start_checkpoint(cfg)  # refuses one that is missing or foreign, before anything is written
    try:
        _make_ready(cfg, folder)
    except (UserError, OSError) as error:
        own_files.bring_back(folder.path)
        mark_failed(folder, error)
        raise
    return folder, False


def _make_ready(cfg: DictConfig, folder: RunFolder) -> None:
    """Empty or mend the folder of a run that is to be trained, and say what was done.

    Raises:
        UserError: where its records are damaged, or it was trained so far by other code or on other text.
    """
    if folder.path.exists() and is_trained_afresh(cfg, folder):
        own_files.set_aside(folder.path)  # what is refused from here on must not cost it
    own_files.refuse_others(folder.path)
    folder.epochs()  # raises for records that cannot be read
    folder.checkpoints.mkdir(parents=True, exist_ok=True)
    for path in folder.drop_leftovers():
        say(f"{folder.name} | {path.name} is not what was saved: dropped")
    if table_of(cfg).records_every_epoch(cfg):
        for path in folder.drop_unrecorded():
            say(f"{folder.name} | {path.name} is of an epoch without a record, or after one: dropped")
    is_new = not (cfg.force or folder.saved.newest() or folder.epochs())
    if is_new and (line := begin_after_shorter_run(cfg, folder)):
        say(f"{folder.name} | {line}")
    refuse_other_code(cfg, folder)
    _refuse_other_measurements(cfg, folder)
    _refuse_other_data(cfg, folder)
    if by_other_code := _by_other_code(cfg, folder):
        say(f"{folder.name} | resumes, trained so far{by_other_code}")


def _refuse_other_measurements(cfg: DictConfig, folder: RunFolder) -> None:
    """Refuse to resume a run with other probes or diagnostics than so far: what claims ask of them would be of a part
    of its training. Raises UserError.
    """
    if folder.saved.newest() and (differing := measured_otherwise(cfg, folder.config)):
        names = " and ".join(differing)
        raise UserError(f"{folder.name}: was trained so far with other {names}; force=true trains it afresh")


def _refuse_other_data(cfg: DictConfig, folder: RunFolder) -> None:
    """Refuse to resume a run on other text, or with other numerics, than so far. Raises UserError."""
    if folder.saved.newest() and (others := on_other_data(cfg, folder)):
        raise UserError(f"{folder.name}: was trained so far {others}; force=true trains it afresh")


def _by_other_code(cfg: DictConfig, folder: RunFolder) -> str:
    """Return a clause that says what of the code that trained a run is other code now; empty for nothing."""
    changed = changes(cfg, folder)
    return f" by other code ({changed})" if changed else ""


def mark_failed(folder: RunFolder, error: Exception, ranks: Ranks = ALONE) -> None:
    """Write into a run's folder that it failed, why, and in which of several processes. A run that is done stays so, as
    where a later member's end could not be written, or where it was to be trained afresh and did not begin.
    """
    if status_of(folder.path).get("state") in DONE:
        return
    where = f"process {ranks.rank} of {ranks.size}: " if ranks.size > 1 else ""
    with suppress(OSError, UserError):  # what broke the run may refuse this, too
        epochs = folder.epochs()
        updates = epochs[-1]["update"] if epochs else 0
        folder.set_status("failed", f"{where}{type(error).__name__}: {error}", updates)
