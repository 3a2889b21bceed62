"""Find the runs that were trained one by one, and not in a sweep."""

from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from omegaconf import OmegaConf
from omegaconf.errors import OmegaConfBaseException

from lnexp.errors import UNREADABLE, UserError, first_line
from lnexp.runs.folder import RunFolder, find_folders
from lnexp.runs.identity import label_of
from lnexp.runs.progress import Progress
from lnexp.runs.sweep import Sweep, SweepRun
from lnexp.tasks import task_of


class SingleRuns(NamedTuple):
    """Runs of no sweep, and what is known of those among them whose config cannot be read, by identity."""

    sweep: Sweep
    malformed: dict[str, Progress]


def runs_of_no_sweep(sweeps: Iterable[Sweep], runs_dir: str | Path) -> SingleRuns | None:
    """Return the runs that are in none of these sweeps, as one; None where there are none."""
    swept = {member.identity for sweep in sweeps for member in sweep.members}
    members, malformed = [], {}
    for run, path in find_folders(runs_dir).items():
        if run not in swept:
            folder = RunFolder(path)
            try:
                members.append(_member(folder))
            except (UserError, OSError) as error:
                members.append(_unknown(folder))
                malformed[run] = Progress("malformed", why=str(error))
    sweep = Sweep("runs of no sweep", sorted(members, key=lambda member: member.name))
    return SingleRuns(sweep, malformed) if members else None


def _member(folder: RunFolder) -> SweepRun:
    """Return a run as its config describes it. Raises UserError or OSError where that cannot be read."""
    if not (config := folder.config):  # a run that was killed before it had one
        return _unknown(folder)
    try:
        cfg = OmegaConf.create(config)
        return SweepRun(
            folder.identity, folder.name, cfg.seed, cfg.max_epoch, cfg.get("max_update"), label_of(cfg),
            task_of(cfg).name,
        )  # fmt: skip
    except (OmegaConfBaseException, AttributeError, *UNREADABLE) as error:
        raise UserError(f"{folder.path / 'config.yaml'}: not the config of a run ({first_line(error)})") from error


def _unknown(folder: RunFolder) -> SweepRun:
    """Return a run of which the name of its folder alone is known."""
    return SweepRun(folder.identity, folder.name, seed=0, max_epoch=1)
