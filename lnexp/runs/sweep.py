"""Write down the runs of a sweep, where ``scripts/status.py`` finds them."""

import re
from collections import Counter
from collections.abc import Collection, Iterable
from dataclasses import asdict, dataclass, field
from pathlib import Path

from lnexp.errors import UserError, near_names
from lnexp.files import write_json
from lnexp.hashing import short_hash
from lnexp.runs.length import Length
from lnexp.schema import Positive, read_json
from lnexp.tasks import DEFAULT


@dataclass
class SweepRun:
    """One run of a sweep.

    Attributes:
        identity: names the run.
        name: readable, for a run that no arm asks for.
        seed: its seed.
        max_epoch: how many epochs it has at most.
        max_update: how many updates it has at most; None where only epochs are a limit.
        label: its settings in words; empty in sweeps that were written before there were any.
        task: what is learned.
        arms: ``recipe/arm`` of all that ask for it.
    """

    identity: str
    name: str
    seed: int
    max_epoch: Positive
    max_update: Positive | None = None
    label: str = ""
    task: str = DEFAULT
    arms: list[str] = field(default_factory=list)

    @property
    def length(self) -> Length:
        return Length(self.max_epoch, self.max_update)

    @property
    def recipes(self) -> set[str]:
        """The names of the recipes whose arms ask for it."""
        return {arm.partition("/")[0] for arm in self.arms}


@dataclass
class Sweep:
    """The runs of one command, each once."""

    title: str
    members: list[SweepRun]

    def save(self, runs_dir: str | Path) -> None:
        """Write the sweep under ``runs_dir``, into a file that the same runs have whenever they are asked for."""
        folder = _folder(runs_dir)
        folder.mkdir(parents=True, exist_ok=True)
        name = short_hash(sorted(member.identity for member in self.members))
        write_json(folder / f"{name}.json", asdict(self), indent=1)


#: The parts of a label, see :func:`lnexp.runs.identity.label_of`: words, and numbers with what they are of.
PHRASE = re.compile(r"no warm-up|warm-up \S+|lr \S+|\S+")


def names_of(members: Iterable[SweepRun]) -> dict[str, str]:
    """Return what the runs of a sweep are called, by identity: what differs between their settings, then the seed.

    Where nothing but the seed differs that is all settings. A run whose settings do not tell it from all others is
    called by its arm.
    """
    each = list(members)
    count = Counter(member.label for member in each)
    differing = _without_what_is_alike({member.identity: PHRASE.findall(member.label) for member in each})
    return {
        member.identity: " ".join(differing[member.identity])
        if member.label and count[member.label] == 1
        else f"{member.arms[0]} s{member.seed}"
        if member.arms
        else member.name
        for member in each
    }


def _without_what_is_alike(labels: dict[str, list[str]]) -> dict[str, list[str]]:
    """Return labels without the phrases that all have, but for the last one, which is the seed."""
    alike = set.intersection(*map(set, labels.values())) if len(labels) > 1 else set()
    shorter = {
        run: [*(phrase for phrase in label[:-1] if phrase not in alike), *label[-1:]] for run, label in labels.items()
    }
    return shorter if any(len(label) > 1 for label in shorter.values()) else labels


def newest_sweep(runs_dir: str | Path, since: float = 0, of: Collection[str] = ()) -> Sweep:
    """Return the sweep that was started last.

    Args:
        runs_dir: where run folders lie.
        since: the earliest start that counts, in seconds since the epoch.
        of: the names of recipes that it must have runs of.

    Raises:
        UserError: where there is none, or its file is malformed.
    """
    for path in _newest_first(runs_dir):
        if path.stat().st_mtime < since:
            break
        sweep = _read(path)
        if set(of) <= set().union(*(member.recipes for member in sweep.members)):
            return sweep
    raise UserError(f"{runs_dir}: no sweep was started there")


def all_sweeps(runs_dir: str | Path) -> list[Sweep]:
    """Return all sweeps, the newest last. A run of several is in the newest of them alone.

    Raises:
        UserError: where a sweep's file is malformed.
    """
    seen: set[str] = set()
    sweeps = []
    for sweep in map(_read, _newest_first(runs_dir)):
        if members := [member for member in sweep.members if member.identity not in seen]:
            sweeps.append(Sweep(sweep.title, members))
        seen |= {member.identity for member in members}
    return sweeps[::-1]


def sweep_by_title(title: str, runs_dir: str | Path) -> Sweep:
    """Return the sweep that was started last among those that have a text in their title; ``last`` is any.

    Raises:
        UserError: where there is none, or a sweep's file is malformed.
    """
    if title == "last":
        return newest_sweep(runs_dir)
    sweeps = [_read(path) for path in _newest_first(runs_dir)]
    for sweep in sweeps:
        if title in sweep.title:
            return sweep
    raise UserError(f"{title}: no such sweep in {runs_dir}; {near_names(title, {sweep.title for sweep in sweeps})}")


def _newest_first(runs_dir: str | Path) -> list[Path]:
    return sorted(_folder(runs_dir).glob("*.json"), key=lambda path: path.stat().st_mtime, reverse=True)


def _read(path: Path) -> Sweep:
    try:
        sweep: Sweep = read_json(path, Sweep)
        return sweep
    except (ValueError, TypeError) as error:
        raise UserError(f"{path}: malformed ({error})") from error


def _folder(runs_dir: str | Path) -> Path:
    return Path(runs_dir) / ".sweeps"
