"""The folder of one run: ``<runs_dir>/<recipe or adhoc>/<readable name>-<identity>/``."""

import json
import os
import platform
import shutil
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal, get_args

from omegaconf import DictConfig, OmegaConf

from lnexp.errors import UserError
from lnexp.files import write_whole
from lnexp.runs import records
from lnexp.runs.checksum import drop, is_archive, is_whole
from lnexp.runs.identity import identity, readable_name

State = Literal["running", "finished", "diverged", "failed"]
DONE: tuple[State, ...] = ("finished", "diverged")


def find_folders(runs_dir: str | Path) -> dict[str, Path]:
    """The folders of all runs by identity, wherever they were first trained, whichever recipe asked for them."""
    paths = sorted(Path(runs_dir).glob("[!.]*/*-*"), reverse=True)
    return {path.name.rpartition("-")[2]: path for path in paths}


class RunFolder:
    """Paths, records and status of one run."""

    def __init__(self, path: Path):
        self.path = path

    @classmethod
    def of(cls, cfg: DictConfig) -> "RunFolder":
        """The folder for a resolved config: where the run lies already, or else where it belongs."""
        run_identity = identity(cfg)
        home = Path(cfg.runs_dir) / cfg.get("recipe", "adhoc") / f"{readable_name(cfg)}-{run_identity}"
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
        """That of one of the processes that train the run together; the first one's is :attr:`log`."""
        return self.path / f"train.rank{rank}.log" if rank else self.log

    @property
    def status(self) -> dict[str, Any]:
        """What ``status.json`` says; empty where there is none. Raises UserError where it is no status."""
        status = self._read_object("status.json")
        if status and status.get("state") not in get_args(State):
            raise UserError(f"{self.path / 'status.json'}: malformed (no such state); force=true trains the run afresh")
        return status

    @property
    def environment(self) -> dict[str, Any]:
        """What ``environment.json`` says; empty where there is none. Raises UserError where it is no JSON object."""
        return self._read_object("environment.json")

    def _read_object(self, name: str) -> dict[str, Any]:
        path = self.path / name
        if not path.exists():
            return {}
        try:
            content = json.loads(path.read_text(encoding="utf-8"))
        except (ValueError, IsADirectoryError) as error:
            raise UserError(f"{path}: malformed ({error}); force=true trains the run afresh") from error
        if not isinstance(content, dict):
            raise UserError(f"{path}: malformed (no object); force=true trains the run afresh")
        return content

    @property
    def is_done(self) -> bool:
        return self.status.get("state") in DONE

    def set_status(self, state: State, why: str = "", updates: int = 0) -> None:
        """Write ``status.json``; the time a run was first started is kept."""
        now = datetime.now(UTC).isoformat(timespec="seconds")
        started = now
        with suppress(UserError):  # an unreadable status is replaced
            started = self.status.get("started", now)
        status = {
            "state": state,
            "why": why,
            "updates": updates,
            "host": platform.node(),
            "pid": os.getpid(),
            "started": started,
            "changed": now,
        }
        write_whole(self.path / "status.json", json.dumps(status, indent=2) + "\n")

    def write_config(self, cfg: DictConfig) -> None:
        write_whole(self.path / "config.yaml", OmegaConf.to_yaml(cfg, resolve=True))

    def write_environment(self, content: dict[str, Any]) -> None:
        write_whole(self.path / "environment.json", json.dumps(content, indent=2) + "\n")

    def write_hypotheses(self, name: str, lines: list[str]) -> None:
        folder = self.path / "hypotheses"
        folder.mkdir(exist_ok=True)
        write_whole(folder / f"{name}.txt", "".join(f"{line}\n" for line in lines))

    def hypotheses(self, name: str) -> list[str]:
        """The translations that were written under a name; none where there are none."""
        path = self.path / "hypotheses" / f"{name}.txt"
        return path.read_text(encoding="utf-8").splitlines() if path.is_file() else []

    def append(self, record: records.Record) -> None:
        records.append(self.metrics, record)

    def epochs(self) -> list[records.Record]:
        """The epoch records so far."""
        return [record for record in records.read(self.metrics) if record["kind"] == "epoch"]

    def best_nll(self) -> float | None:
        """The least validation nll of any epoch, nats a token; None where no epoch has one."""
        return min((nll for record in self.epochs() if (nll := record["valid_nll"]) is not None), default=None)

    def checkpoint(self, epoch: int) -> Path:
        return self.checkpoints / f"checkpoint{epoch}.pt"

    def checkpoint_epochs(self) -> list[int]:
        """The epochs that have a checkpoint, in order: one that was cut short is none (:meth:`drop_leftovers` compares
        digests, too).
        """
        return [epoch for epoch, path in sorted(self._saved().items()) if is_archive(path)]

    def _saved(self) -> dict[int, Path]:
        """The epochs' checkpoints, whole or not."""
        names = {path.stem.removeprefix("checkpoint"): path for path in self.checkpoints.glob("checkpoint*.pt")}
        return {int(name): path for name, path in names.items() if name.isdigit()}

    def checkpoint_within(self, epoch: int, update: int) -> Path:
        """Of a run that was told to stop within an epoch; the name is fairseq's."""
        return self.checkpoints / f"checkpoint_{epoch}_{update}.pt"

    def last_update_within(self) -> int:
        """The update of the newest checkpoint within the epoch after the last whole one; 0 where there is none."""
        now = self.last_checkpoint_epoch() + 1
        return max((update for epoch, update in self._saved_within() if epoch == now), default=0)

    def newest_checkpoint(self) -> Path | None:
        """Where training goes on; None where it begins."""
        epoch, update = self.last_checkpoint_epoch(), self.last_update_within()
        if update:
            return self.checkpoint_within(epoch + 1, update)
        return self.checkpoint(epoch) if epoch else None

    def _saved_within(self) -> dict[tuple[int, int], Path]:
        """The checkpoints within epochs, by epoch and update."""
        found = {}
        for path in self.checkpoints.glob("checkpoint_*_*.pt"):
            _, epoch, update = path.stem.split("_", 2)
            if epoch.isdigit() and update.isdigit():
                found[int(epoch), int(update)] = path
        return found

    def last_checkpoint_epoch(self) -> int:
        """The epoch of the newest checkpoint; 0 where there is none."""
        return max(self.checkpoint_epochs(), default=0)

    def best_epoch(self) -> int | None:
        """Of the epochs that have a checkpoint, the one of the least validation nll; None where there is none."""
        kept = self.checkpoint_epochs()
        candidates = [record for record in self.epochs() if record["epoch"] in kept]
        return min(candidates, key=lambda record: record["valid_nll"])["epoch"] if candidates else None

    def epochs_to_test(self, diverged: bool) -> list[int]:
        """Whose checkpoint to test: the best epoch's; of a diverged run the last one's, or an earlier one's."""
        latest_first = self.checkpoint_epochs()[::-1]
        best = self.best_epoch()
        return latest_first if diverged or best is None else [best, *latest_first]

    def prune(self, newest: int | None, best: bool) -> None:
        """Drop checkpoints, and fairseq's copy of the best one.

        Args:
            newest: how many of the newest to keep; None keeps all.
            best: whether to keep the one of the least validation nll, too.
        """
        drop(self.checkpoints / "checkpoint_best.pt")
        last = self.newest_checkpoint()
        for path in self._saved_within().values():
            if path != last:
                drop(path)
        if newest is None:
            return
        kept = {*self.checkpoint_epochs()[-newest:], *([self.best_epoch()] if best else [])}
        for epoch, path in self._saved().items():
            if epoch not in kept:
                drop(path)

    def drop_after(self, epoch: int, update: int = 0) -> None:
        """Forget what was recorded and saved after ``epoch``, or after an ``update`` within the next one; 0 forgets
        everything.
        """
        records.keep_until(self.metrics, epoch, update)
        for later, path in self._saved().items():
            if later > epoch:
                drop(path)
        for place, path in self._saved_within().items():
            if place != (epoch + 1, update):
                drop(path)

    def drop_leftovers(self) -> list[Path]:
        """Delete what a kill, a full disk or a broken one left: half-written files, and checkpoints that are not what
        was saved. The one before is then the newest.

        Returns:
            The checkpoints that were not whole.
        """
        damaged = [path for path in (*self._saved().values(), *self._saved_within().values()) if not is_whole(path)]
        for path in [*self.checkpoints.glob("*.tmp"), *self.checkpoints.glob(".*"), *self.path.glob(".*"), *damaged]:
            drop(path)
        for digest in self.checkpoints.glob("*.pt.sha256"):
            if not digest.with_suffix("").exists():
                digest.unlink()
        return damaged

    def clear(self) -> None:
        """Forget everything the run has."""
        (self.path / "status.json").unlink(missing_ok=True)  # first: what is left must not pass for a finished run
        for path in self.path.iterdir():
            shutil.rmtree(path) if path.is_dir() and not path.is_symlink() else path.unlink()


def status_of(path: Path | None) -> dict[str, Any]:
    """``status.json``; empty where there is none that can be read."""
    try:
        return RunFolder(path).status if path else {}
    except UserError:
        return {}
