"""The folder of one run: ``<runs_dir>/<recipe or adhoc>/<readable name>-<identity>/``."""

import os
import platform
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from itertools import count
from pathlib import Path
from typing import Any, cast

import yaml
from omegaconf import DictConfig, OmegaConf

from lnexp.errors import UserError
from lnexp.files import read_regular, write_json, write_whole
from lnexp.paths import ADHOC
from lnexp.plain import find
from lnexp.printable import has_name, one_line, printable
from lnexp.runs import own_files, records
from lnexp.runs.checksum import delete
from lnexp.runs.config_file import parse_config
from lnexp.runs.environment import Environment
from lnexp.runs.identity import identity, readable_name
from lnexp.runs.saved_checkpoints import BEST, WITHIN_EPOCH, SavedCheckpoints
from lnexp.runs.status import DONE, State, Status, slurm_job
from lnexp.schema import checked, load_json


def find_folders(runs_dir: str | Path) -> dict[str, Path]:
    """Return the folders of all runs by identity, whichever recipe they were first trained for; of copies, one."""
    named = [path for path in _named_as_runs(runs_dir) if is_named(path)]
    return {identity: which_counts(copies) for identity, copies in by_identity(named).items()}


def by_identity(paths: Iterable[Path]) -> dict[str, list[Path]]:
    """Return folders of runs by identity. Those of several machines, put together, may have copies of a run."""
    copies: dict[str, list[Path]] = {}
    for path in paths:
        copies.setdefault(RunFolder(path).identity, []).append(path)
    return copies


def which_counts(copies: Sequence[Path]) -> Path:
    """Return which of a run's folders stands for it: the first that is over, or else the first."""
    if len(copies) == 1:
        return copies[0]
    return next((path for path in copies if status_of(path).get("state") in DONE), copies[0])


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
    return sorted(Path(runs_dir).glob("[!.]*/*-*"))


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

    @property
    def saved(self) -> SavedCheckpoints:
        """The files in :attr:`checkpoints`."""
        return SavedCheckpoints(self.checkpoints)

    def refuse_without_checkpoint(self, epoch: int) -> None:
        """Refuse an epoch of which the run has no complete checkpoint. Raises UserError, which names those it has."""
        epochs = self.saved.epochs()
        if epoch not in epochs:
            there = ", ".join(map(str, epochs)) or "none"
            raise UserError(
                f"start.epoch={epoch}: {self.name} has no checkpoint of that epoch (it has: {there});"
                " checkpoints.keep=all force=true trains it again and keeps every one"
            )

    def updates_at(self, checkpoint: Path) -> int | None:
        """Return how many updates had been made when a checkpoint was saved; None where nothing says it."""
        if within := WITHIN_EPOCH.fullmatch(checkpoint.name):
            return int(within["update"])
        recorded = {self.saved.of_epoch(record["epoch"]): record["update"] for record in self.epochs()}
        return recorded.get(checkpoint)

    def best_epoch(self) -> int | None:
        """Return the epoch with the lowest validation nll among those that have a checkpoint; None where none has."""
        kept = self.saved.epochs()
        candidates = [record for record in self.epochs() if record["epoch"] in kept and record["valid_nll"] is not None]
        return min(candidates, key=lambda record: record["valid_nll"])["epoch"] if candidates else None

    def epochs_to_test(self, diverged: bool) -> list[int]:
        """Return the epochs whose checkpoints to test, in order of preference.

        That is the best epoch, then the later before the earlier ones; a diverged run has no best epoch.
        """
        latest_first = self.saved.epochs()[::-1]
        best = self.best_epoch()
        return latest_first if diverged or best is None else list(dict.fromkeys([best, *latest_first]))

    def prune(self, newest: int | None, best: bool) -> None:
        """Delete checkpoints, and fairseq's copy of the best one.

        Args:
            newest: how many of the newest checkpoints to keep; None keeps all.
            best: whether to keep the one with the lowest validation nll, too.
        """
        delete(self.checkpoints / BEST)
        self.saved.keep_newest_within()
        if newest is None:
            return
        kept = set(self.saved.epochs()[-newest:])
        if best and (epoch := self.best_epoch()):
            kept.add(epoch)
        self.saved.keep_epochs(kept)

    def drop_after(self, epoch: int, update: int = 0) -> None:
        """Delete records and checkpoints after ``epoch``, or after an ``update`` within the next; 0 deletes all."""
        records.keep_until(self.metrics, epoch, update)
        self.saved.drop_after(epoch, update)

    def drop_unrecorded(self) -> list[Path]:
        """Delete and return the checkpoints that are later than the records, or than a gap in them.

        A crash of the machine can lose a record whose checkpoint it leaves.
        """
        recorded = {record["epoch"] for record in self.epochs()}
        missing = next(epoch for epoch in count(1) if epoch not in recorded)
        return self.saved.drop_since_end_of(missing)

    def drop_leftovers(self) -> list[Path]:
        """Delete half-written files, mend the checkpoints, and return those that were damaged."""
        own_files.drop_half_written(self.path)
        return self.saved.mend()


def status_of(path: Path | None) -> Status:
    """Return the content of ``status.json``; empty where it is missing or malformed."""
    with suppress(UserError, OSError):
        if path:
            return RunFolder(path).status
    return cast(Status, {})
