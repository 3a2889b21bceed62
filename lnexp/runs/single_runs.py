"""Find the runs that were trained one by one, and not in a sweep."""

from collections.abc import Iterable
from pathlib import Path

from omegaconf import OmegaConf
from omegaconf.errors import OmegaConfBaseException

from lnexp.errors import UserError
from lnexp.runs.folder import RunFolder, find_folders
from lnexp.runs.identity import label_of
from lnexp.runs.sweep import Sweep, SweepRun
from lnexp.tasks import task_of


def runs_of_no_sweep(sweeps: Iterable[Sweep], runs_dir: str | Path) -> Sweep | None:
    """Return the runs that are in none of these sweeps, as one; None where there are none."""
    swept = {member.identity for sweep in sweeps for member in sweep.members}
    alone = [_member(RunFolder(path)) for run, path in find_folders(runs_dir).items() if run not in swept]
    return Sweep("runs of no sweep", sorted(alone, key=lambda member: member.name)) if alone else None


def _member(folder: RunFolder) -> SweepRun:
    """Return a run as its config describes it; one whose config cannot be read has its folder's name alone."""
    try:
        cfg = OmegaConf.create(folder.config)
        return SweepRun(
            folder.identity, folder.name, cfg.seed, cfg.max_epoch, cfg.get("max_update"), label_of(cfg),
            task_of(cfg).name,
        )  # fmt: skip
    except (UserError, OmegaConfBaseException, AttributeError, TypeError):
        return SweepRun(folder.identity, folder.name, seed=0, max_epoch=1)
