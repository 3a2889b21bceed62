"""Write a run's records to its folder and to wandb, lines about it to the terminal, and its log."""

import logging
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from tqdm import tqdm

from lnexp.runs.environment import git_state
from lnexp.runs.length import Length
from lnexp.runs.progress import clock
from lnexp.runs.quiet import runs_are_quiet
from lnexp.runs.records import Record
from lnexp.tasks import task_of
from lnexp.tasks.contract import Member
from lnexp.tracking.tracker import Tracker
from lnexp.training.ranks import ALONE, Ranks


class Journal:
    """The records of one run; a context manager. Of several processes only the leading one writes."""

    def __init__(self, member: Member, first_epoch: int, ranks: Ranks = ALONE):
        self.member = member
        self._tracker = Tracker(member.cfg, member.folder) if ranks.leads else None
        self._clock = _Clock(Length.of(member.cfg), first_epoch)
        self._first_epoch = first_epoch
        self._commit = git_state()["commit"] if ranks.leads else None

    def __enter__(self) -> "Journal":
        if self._tracker:
            self._tracker.__enter__()
        return self

    def add(self, record: Record) -> None:
        """Write a record; one of an epoch gets the commit that trained it."""
        if not self._tracker:
            return
        if record["kind"] == "epoch":
            record = record | {"commit": self._commit}
        self.member.folder.append(record)
        self._tracker.log(record)
        if record["kind"] == "epoch" and (warning := self._warmup_warning(record)):
            logging.warning(warning)
            if not runs_are_quiet():
                say(f"{self.member.folder.name} | warning: {warning}")
        if record["kind"] == "epoch" and not runs_are_quiet():
            left = self._clock.seconds_left(record["epoch"], record["update"])
            say(_epoch_line(self.member, record, left))

    def _warmup_warning(self, record: Record) -> str:
        """Return, after the first epoch of this process, that the warm-up will not end within the run; else nothing."""
        if record["epoch"] != self._first_epoch:
            return ""
        cfg = self.member.cfg
        return Length.of(cfg).endless_warmup(cfg.warmup_updates, record["epoch"], record["update"])

    def __exit__(self, *error: object) -> None:
        if self._tracker:
            self._tracker.__exit__(*error)


def _epoch_line(member: Member, record: Record, seconds_left: float) -> str:
    """Return a line on an epoch: what it reached, how fast, and how long the run will still take."""
    return (
        f"{member.folder.name} | {Length.of(member.cfg).words(record['epoch'], record['update'])}"
        f" | valid loss {record['valid_loss']:.3f}, nll {record['valid_nll']:.3f},"
        f" {task_of(member.cfg).epoch_words(record)}"
        f" | train loss {record['train_loss']:.3f} | lr {record['lr']:.2e} | grad norm {record['grad_norm']:.2f}"
        f" | {record['tokens_per_second']:,.0f} tokens/s | {clock(seconds_left)} left"
    )


class _Clock:
    """Estimates the time left from the pace of the epochs of this process."""

    def __init__(self, length: Length, first_epoch: int):
        self.length, self.first_epoch = length, first_epoch
        self.start = time.monotonic()

    def seconds_left(self, epoch: int, update: int) -> float:
        """Return the estimated seconds that are left after so many epochs and updates."""
        done = epoch - self.first_epoch + 1
        return (time.monotonic() - self.start) / done * self.length.epochs_left(epoch, update)


def say(text: str) -> None:
    """Print a line on standard output, above a progress bar if there is one. One that nobody reads any more, as after
    ``| head``, fails no run.
    """
    with suppress(OSError):
        tqdm.write(text, file=sys.stdout)
        sys.stdout.flush()


def announce(member: Member, first_epoch: int, members: int, ranks: Ranks) -> None:
    """Say that a run begins, in how large an array or how many processes, and how large its updates are."""
    if runs_are_quiet():
        return
    cfg, folder = member.cfg, member.folder
    how = "starts" if first_epoch == 1 else f"resumes with epoch {first_epoch}"
    if update := folder.saved.last_update_within():
        how = f"resumes within epoch {first_epoch}, after update {update}"
    among = f", one of {members} in an array" if members > 1 else ""
    say(f"{folder.name} | {how}: {Length.of(cfg)} of {cfg.data.name}, profile {cfg.profile}{among}")
    if cfg.update_freq > 1:
        share = f", {cfg.update_freq // ranks.size} of them in each of {ranks.size} processes" if ranks.size > 1 else ""
        say(f"{folder.name} | an update has {cfg.update_freq} batches of max_tokens={cfg.max_tokens}{share}")


def announce_end(member: Member, end: Record) -> None:
    """Say how a run ended, where no sweep does."""
    if runs_are_quiet():
        return
    folder = member.folder
    state, why = folder.status["state"], folder.status["why"]
    because = f" ({why})" if why else ""
    say(f"{folder.name} | {state}{because}, {task_of(member.cfg).end_words(end)} | {folder.path}")


@contextmanager
def logging_to(paths: Sequence[Path]) -> Iterator[None]:
    """Log everything, warnings included, to each of these files and nowhere else. Nothing is said of a line that a full
    disk does not take: what cannot be saved there ends the run, and says why.
    """
    files = [logging.FileHandler(path, encoding="utf-8") for path in paths]
    for file in files:
        file.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(name)s: %(message)s"))
    root = logging.getLogger()
    handlers, level = root.handlers[:], root.level
    root.handlers[:] = files
    raised, logging.raiseExceptions = logging.raiseExceptions, False
    root.setLevel(logging.INFO)
    logging.captureWarnings(True)
    try:
        yield
    finally:
        logging.captureWarnings(False)
        logging.raiseExceptions = raised
        root.handlers[:] = handlers
        root.setLevel(level)
        for file in files:
            file.close()
