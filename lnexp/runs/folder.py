"""The folder of one run: ``<runs_dir>/<recipe or adhoc>/<readable name>-<identity>/``."""

import os
import platform
import re
import shutil
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from datetime import UTC, datetime
from itertools import count
from pathlib import Path
from typing import Any, Literal, NotRequired, TypedDict, cast

import yaml
from omegaconf import DictConfig, OmegaConf

from lnexp.errors import UserError
from lnexp.files import TEMPORARY, read_regular, write_json, write_whole
from lnexp.paths import ADHOC
from lnexp.plain import find
from lnexp.printable import has_name, one_line, printable
from lnexp.runs import records
from lnexp.runs.checksum import delete, has_checksum, is_archive, is_whole, write_checksum
from lnexp.runs.config_file import parse_config
from lnexp.runs.environment import Environment
from lnexp.runs.identity import identity, readable_name
from lnexp.schema import Count, Time, checked, load_json

State = Literal["running", "finished", "diverged", "failed"]
DONE: tuple[State, ...] = ("finished", "diverged")


class Status(TypedDict):
    """The content of ``status.json``.

    Attributes:
        state: of the run.
        why: it failed or diverged; empty otherwise.
        updates: how many were made.
        host, pid, job: the machine, the process and the SLURM job that wrote it.
        started, changed: when the run was first started, and when this was written.
    """

    state: State
    why: str
    updates: Count
    host: NotRequired[str]
    pid: NotRequired[int]
    job: NotRequired[str | None]
    started: NotRequired[Time]
    changed: NotRequired[Time]


#: Names of the checkpoints after an epoch and within one.
OF_EPOCH = re.compile(r"checkpoint(?P<epoch>[1-9][0-9]{0,8})\.pt")
WITHIN_EPOCH = re.compile(r"checkpoint_(?P<epoch>[1-9][0-9]{0,8})_(?P<update>[1-9][0-9]{0,11})\.pt")
#: Names of both, for names that are made of them.
_SAVED = r"checkpoint([1-9][0-9]{0,8}|_[1-9][0-9]{0,8}_[1-9][0-9]{0,11})\.pt"
CHECKSUM = re.compile(rf"{_SAVED}\.sha256")
#: Names of the files that a run writes, by the folder within its own; what has another name is not the run's.
FILES = {
    ".": re.compile(r"config\.yaml|metrics\.jsonl|(status|environment)\.json|train(\.rank[0-9]+)?\.log"),
    "checkpoints": re.compile(rf"{_SAVED}(\.sha256|\.tmp)?|checkpoint_best\.pt"),
    "hypotheses": re.compile(r"(valid\.epoch[1-9][0-9]{0,8}|test(\.averaged)?)\.txt"),
}
#: What wandb writes into its folder.
OF_WANDB = re.compile(r"(offline-)?run-[0-9]{8}_[0-9]{6}-\w+|latest-run|debug(-\w+)?\.log")
#: Names of files that are written in place, to the end or over what is there; others are written beside and renamed.
IN_PLACE = re.compile(r"metrics\.jsonl|train(\.rank[0-9]+)?\.log|checkpoint_best\.pt|.*\.tmp")


def find_folders(runs_dir: str | Path) -> dict[str, Path]:
    """Return the folders of all runs by identity, whichever recipe they were first trained for."""
    return {path.name.rpartition("-")[2]: path for path in _named_as_runs(runs_dir) if is_named(path)}


def misnamed_folders(runs_dir: str | Path) -> list[str]:
    """Return a line on each folder that is not among those of runs because of its name."""
    return [misnamed(path) for path in _named_as_runs(runs_dir) if not is_named(path)]


def misnamed(path: Path) -> str:
    """Return a line on a folder whose name cannot be shown as it is, or is not UTF-8."""
    return printable(f"{one_line(str(path))}: not read, for its name cannot be printed; rename it")


def is_named(path: Path) -> bool:
    """Return whether the name of a run's folder, and of the folder that it lies in, can be printed."""
    return has_name(path, 2)


def _named_as_runs(runs_dir: str | Path) -> list[Path]:
    return sorted(Path(runs_dir).glob("[!.]*/*-*"), reverse=True)


class RunFolder:
    """Paths, records and status of one run."""

    def __init__(self, path: Path):
        self.path = path

    @classmethod
    def of(cls, cfg: DictConfig) -> "RunFolder":
        """Return the folder of a resolved config: the one that exists already, or the one to be made."""
        run_identity = identity(cfg)
        home = Path(cfg.runs_dir) / str(cfg.get("recipe", ADHOC)) / f"{readable_name(cfg)}-{run_identity}"
        return cls(find_folders(cfg.runs_dir).get(run_identity, home))

    @property
    def name(self) -> str:
        return self.path.name

    @property
    def identity(self) -> str:
        return self.path.name.rpartition("-")[2]

    @property
    def metrics(self) -> Path:
        return self.path / "metrics.jsonl"

    @property
    def checkpoints(self) -> Path:
        return self.path / "checkpoints"

    @property
    def log(self) -> Path:
        return self.path / "train.log"

    def log_of(self, rank: int) -> Path:
        """Return the log file of one of the processes that train the run together; rank 0 writes :attr:`log`."""
        return self.path / f"train.rank{rank}.log" if rank else self.log

    @property
    def status(self) -> Status:
        """The content of ``status.json``; empty where it is missing. Raises UserError where it is malformed."""
        return cast(Status, self._read("status.json", Status))

    @property
    def environment(self) -> Environment:
        """The content of ``environment.json``; empty where it is missing. Raises UserError where it is malformed."""
        return cast(Environment, self._read("environment.json", Environment))

    @property
    def config(self) -> dict[str, Any]:
        """The content of ``config.yaml``; empty where it is missing. Raises UserError where it is malformed."""
        return self._read("config.yaml", dict[str, Any], parse_config)

    def config_with(self, names: Iterable[str]) -> dict[str, Any]:
        """Return the content of ``config.yaml``. Raises UserError where it is malformed or lacks an option."""
        config = self.config
        if missing := [name for name in names if find(config, name) is None]:
            raise UserError(f"{self.path / 'config.yaml'}: not the config of a run; it has no {missing[0]}")
        return config

    def _read(self, name: str, form: Any, parse: Callable[[str], Any] = load_json) -> dict[str, Any]:
        """Return the content of a file in its form; empty where it is missing. Raises UserError for another form."""
        path = self.path / name
        if not os.path.lexists(path):
            return {}
        try:
            content: dict[str, Any] = checked(form, parse(read_regular(path)), "it")
            return content
        except (ValueError, TypeError, yaml.YAMLError) as error:
            why = one_line(str(error))
            raise UserError(f"{path}: malformed ({why}); force=true trains the run afresh") from error

    @property
    def is_done(self) -> bool:
        return self.status.get("state") in DONE

    def set_status(self, state: State, why: str = "", updates: int = 0) -> None:
        """Write ``status.json``; the time when the run was first started is kept."""
        now = datetime.now(UTC).isoformat(timespec="seconds")
        started = now
        with suppress(UserError):  # an unreadable status is replaced
            started = self.status.get("started", now)
        status: Status = {
            "state": state,
            "why": why,
            "updates": updates,
            "host": platform.node(),
            "pid": os.getpid(),
            "job": slurm_job(),
            "started": started,
            "changed": now,
        }
        write_json(self.path / "status.json", status, indent=2)

    def write_config(self, cfg: DictConfig) -> None:
        write_whole(self.path / "config.yaml", OmegaConf.to_yaml(cfg, resolve=True))

    def write_environment(self, content: Environment) -> None:
        write_json(self.path / "environment.json", content, indent=2)

    def write_lines(self, name: str, lines: list[str]) -> None:
        """Write text that a task keeps of a run, as ``hypotheses/test.txt``."""
        path = self.path / name
        path.parent.mkdir(exist_ok=True)
        write_whole(path, "".join(f"{line}\n" for line in lines))

    def lines(self, name: str) -> list[str]:
        """Return the lines that were written under a name; none where there is no such file.

        Raises:
            UserError: where it is no text.
        """
        path = self.path / name
        if not os.path.lexists(path):
            return []
        try:
            return read_regular(path).split("\n")[:-1]
        except UnicodeDecodeError as error:
            raise UserError(f"{path}: malformed ({error}); force=true trains the run afresh") from error

    def append(self, record: records.Record) -> None:
        records.append(self.metrics, record)

    def epochs(self) -> list[records.Record]:
        """Return the epoch records, oldest first."""
        return records.of_kind("epoch", records.read(self.metrics))

    def best_nll(self) -> float | None:
        """Return the lowest validation nll of any epoch, nats a token; None where no epoch has one."""
        return min((nll for record in self.epochs() if (nll := record["valid_nll"]) is not None), default=None)

    def checkpoint(self, epoch: int) -> Path:
        return self.checkpoints / f"checkpoint{epoch}.pt"

    def checkpoint_epochs(self) -> list[int]:
        """Return the epochs that have a complete checkpoint, in order.

        A file that was cut short does not count. Checksums are compared by :meth:`drop_leftovers` alone.
        """
        return [epoch for epoch, path in sorted(self._saved().items()) if is_archive(path)]

    def refuse_without_checkpoint(self, epoch: int) -> None:
        """Refuse an epoch of which the run has no complete checkpoint. Raises UserError, which names those it has."""
        epochs = self.checkpoint_epochs()
        if epoch not in epochs:
            there = ", ".join(map(str, epochs)) or "none"
            raise UserError(
                f"start.epoch={epoch}: {self.name} has no checkpoint of that epoch (it has: {there});"
                " checkpoints.keep=all force=true trains it again and keeps every one"
            )

    def _saved(self) -> dict[int, Path]:
        """Return the checkpoint files of epochs, complete or not."""
        return {int(found["epoch"]): path for found, path in self._files_like(OF_EPOCH)}

    def _files_like(self, form: re.Pattern[str]) -> Iterator[tuple[re.Match[str], Path]]:
        """Yield the files among the checkpoints whose names have a form, each with its match: others are not ours."""
        for path in self.checkpoints.glob("*"):
            if (found := form.fullmatch(path.name)) and path.is_file():
                yield found, path

    def checkpoint_within(self, epoch: int, update: int) -> Path:
        """Return the path of a checkpoint within an epoch, named as fairseq names it."""
        return self.checkpoints / f"checkpoint_{epoch}_{update}.pt"

    def last_update_within(self) -> int:
        """Return the update of the newest checkpoint within the epoch that follows the last complete one, or 0."""
        now = self.last_checkpoint_epoch() + 1
        return max((update for epoch, update in self._saved_within() if epoch == now), default=0)

    def newest_checkpoint(self) -> Path | None:
        """Return the checkpoint that training is resumed from; None where it starts from scratch."""
        epoch, update = self.last_checkpoint_epoch(), self.last_update_within()
        if update:
            return self.checkpoint_within(epoch + 1, update)
        return self.checkpoint(epoch) if epoch else None

    def updates_at(self, checkpoint: Path) -> int | None:
        """Return how many updates had been made when a checkpoint was saved; None where nothing says it."""
        if within := WITHIN_EPOCH.fullmatch(checkpoint.name):
            return int(within["update"])
        recorded = {self.checkpoint(record["epoch"]): record["update"] for record in self.epochs()}
        return recorded.get(checkpoint)

    def _saved_within(self) -> dict[tuple[int, int], Path]:
        """Return the checkpoint files within epochs, by epoch and update."""
        return {(int(found["epoch"]), int(found["update"])): path for found, path in self._files_like(WITHIN_EPOCH)}

    def last_checkpoint_epoch(self) -> int:
        """Return the epoch of the newest checkpoint; 0 where there is none."""
        return max(self.checkpoint_epochs(), default=0)

    def best_epoch(self) -> int | None:
        """Return the epoch with the lowest validation nll among those that have a checkpoint; None where none has."""
        kept = self.checkpoint_epochs()
        candidates = [record for record in self.epochs() if record["epoch"] in kept and record["valid_nll"] is not None]
        return min(candidates, key=lambda record: record["valid_nll"])["epoch"] if candidates else None

    def epochs_to_test(self, diverged: bool) -> list[int]:
        """Return the epochs whose checkpoints to test, in order of preference.

        That is the best epoch, then the later before the earlier ones; a diverged run has no best epoch.
        """
        latest_first = self.checkpoint_epochs()[::-1]
        best = self.best_epoch()
        return latest_first if diverged or best is None else list(dict.fromkeys([best, *latest_first]))

    def prune(self, newest: int | None, best: bool) -> None:
        """Delete checkpoints, and fairseq's copy of the best one.

        Args:
            newest: how many of the newest checkpoints to keep; None keeps all.
            best: whether to keep the one with the lowest validation nll, too.
        """
        delete(self.checkpoints / "checkpoint_best.pt")
        last = self.newest_checkpoint()
        for path in self._saved_within().values():
            if path != last:
                delete(path)
        if newest is None:
            return
        kept = {*self.checkpoint_epochs()[-newest:], *([self.best_epoch()] if best else [])}
        for epoch, path in self._saved().items():
            if epoch not in kept:
                delete(path)

    def drop_after(self, epoch: int, update: int = 0) -> None:
        """Delete records and checkpoints after ``epoch``, or after an ``update`` within the next; 0 deletes all."""
        records.keep_until(self.metrics, epoch, update)
        for later, path in self._saved().items():
            if later > epoch:
                delete(path)
        for place, path in self._saved_within().items():
            if place != (epoch + 1, update):
                delete(path)

    def refuse_others(self) -> None:
        """Refuse what has a name that the run writes to and is not of its own: a link to a folder, a folder in a file's
        place, a pipe, a link to a file.

        Raises:
            UserError: that names it.
        """
        for name in (*FILES, "wandb"):
            place = self.path / name
            if os.path.lexists(place) and (place.is_symlink() or not place.is_dir()) and name != ".":
                raise UserError(f"{place}: not a folder of the run's own; remove it")
        for name, form in FILES.items():
            for path in (self.path / name).glob("*"):
                lies_elsewhere = path.is_symlink() and IN_PLACE.fullmatch(path.name)
                if form.fullmatch(path.name) and (lies_elsewhere or not path.is_file()):
                    raise UserError(f"{path}: not a regular file of the run's own; remove it")

    def drop_leftovers(self) -> list[Path]:
        """Delete half-written files and damaged checkpoints, as a kill, a full disk or a broken disk leaves them, and
        write the checksums of whole ones that a kill right after saving left without.

        Returns:
            The damaged checkpoints.
        """
        damaged = []
        for path in (*self._saved().values(), *self._saved_within().values()):
            if not is_whole(path):
                delete(path)
                damaged.append(path)
            elif not has_checksum(path):
                write_checksum(path)
        for path in (path for place in FILES for path in self._written(place)):
            if path.name.startswith(".") or path.suffix == ".tmp":
                path.unlink(missing_ok=True)
        self.drop_lone_checksums()
        return damaged

    def drop_lone_checksums(self) -> None:
        """Delete the checksums of checkpoints that are gone, as a kill between the deletions of the two leaves them."""
        for _, digest in self._files_like(CHECKSUM):
            if not digest.with_suffix("").exists():
                digest.unlink(missing_ok=True)

    def drop_unrecorded(self) -> list[Path]:
        """Delete and return the checkpoints that are later than the records, or than a gap in them.

        A crash of the machine can lose a record whose checkpoint it leaves.
        """
        recorded = {record["epoch"] for record in self.epochs()}
        last = next(epoch for epoch in count() if epoch + 1 not in recorded)
        later = [path for epoch, path in self._saved().items() if epoch > last]
        later += [path for (epoch, _), path in self._saved_within().items() if epoch > last + 1]
        for path in later:
            delete(path)
        return later

    def _written(self, place: str) -> Iterator[Path]:
        """Yield the files of a folder within the run's that the run writes, half-written ones included."""
        for path in (self.path / place).glob("*"):
            half_written = TEMPORARY.fullmatch(path.name)
            name = half_written["name"] if half_written else path.name
            if FILES[place].fullmatch(name) and (path.is_file() or path.is_symlink()):
                yield path

    def clear(self) -> None:
        """Delete what the run has written; what others have put into the folder stays."""
        for path in sorted(self._written("."), key=lambda path: path.name != "status.json"):
            path.unlink()  # the status first, so that the rest cannot pass for a finished run
        for path in (self.path / "wandb").glob("*"):
            if OF_WANDB.fullmatch(path.name):
                _remove(path)
        for place in (self.path / name for name in ("checkpoints", "hypotheses", "wandb")):
            if place.is_symlink():
                place.unlink()
                continue
            for path in self._written(place.name) if place.name in FILES else ():
                path.unlink()
            with suppress(OSError):  # there is none, or others have put something into it
                place.rmdir()


def _remove(path: Path) -> None:
    """Delete a folder with all that is in it, a link or a file."""
    shutil.rmtree(path) if path.is_dir() and not path.is_symlink() else path.unlink()


def slurm_job() -> str | None:
    """Return the number of the SLURM job that this process belongs to, which it keeps when it is queued again."""
    return os.environ.get("SLURM_JOB_ID")


def status_of(path: Path | None) -> Status:
    """Return the content of ``status.json``; empty where it is missing or malformed."""
    with suppress(UserError, OSError):
        if path:
            return RunFolder(path).status
    return cast(Status, {})
