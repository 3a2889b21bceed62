"""What a sweep consists of, written down where ``scripts/status.py`` finds it."""

import json
from dataclasses import asdict, dataclass, field
from pathlib import Path

from lnexp.errors import UserError
from lnexp.files import write_whole
from lnexp.hashing import short_hash


@dataclass
class Member:
    """One run of a sweep.

    Attributes:
        identity: names the run.
        name: readable, for a run that no arm asks for.
        seed: its seed.
        max_epoch: how many epochs it has.
        arms: ``recipe/arm`` of all that ask for it.
    """

    identity: str
    name: str
    seed: int
    max_epoch: int
    arms: list[str] = field(default_factory=list)


@dataclass
class Sweep:
    """The runs of one command, each once."""

    title: str
    members: list[Member]

    def save(self, runs_dir: str | Path) -> None:
        """Keep it under ``runs_dir``; the same runs are the same file, so a repeated command makes no second one."""
        folder = _folder(runs_dir)
        folder.mkdir(parents=True, exist_ok=True)
        name = short_hash(sorted(member.identity for member in self.members))
        write_whole(folder / f"{name}.json", json.dumps(asdict(self), indent=1) + "\n")


def newest_sweep(runs_dir: str | Path) -> Sweep:
    """The sweep that was started last.

    Raises:
        UserError: where there is none, or its file is malformed.
    """
    paths = sorted(_folder(runs_dir).glob("*.json"), key=lambda path: path.stat().st_mtime)
    if not paths:
        raise UserError(f"{runs_dir}: no sweep was started there")
    try:
        content = json.loads(paths[-1].read_text(encoding="utf-8"))
        return Sweep(content["title"], [Member(**member) for member in content["members"]])
    except (ValueError, KeyError, TypeError) as error:
        raise UserError(f"{paths[-1]}: malformed ({error})") from error


def _folder(runs_dir: str | Path) -> Path:
    return Path(runs_dir) / ".sweeps"
