"""Plan a sweep: which runs its jobs are, each once, and which of them are to be trained."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from omegaconf import DictConfig

from lnexp.configuration import check, check_device
from lnexp.errors import UserError
from lnexp.launchers.retry import Planned
from lnexp.runs.code import is_over, refuse_all_of_other_code
from lnexp.runs.folder import RunFolder, find_folders
from lnexp.runs.identity import identity, label_of, readable_name
from lnexp.runs.measurements import asked, is_to_be_measured, lacking
from lnexp.runs.sweep import SweepRun
from lnexp.tasks import task_of
from lnexp.tasks.contract import Start


@dataclass
class Plan:
    """The runs of a sweep.

    Attributes:
        members: all of them, by identity.
        missing: those that are not done.
        starts: where runs that are missing start from, by identity.
        notes: a line on runs that other code has trained, and one on runs that are over and lack measurements.
        corpora: the corpora that missing runs need: by settings, a config with them, and the identities of the runs.
        here: whether runs are trained on this machine, which then needs their device, and not from it on a cluster.
    """

    members: dict[str, SweepRun] = field(default_factory=dict)
    missing: list[Planned] = field(default_factory=list)
    corpora: dict[str, tuple[DictConfig, list[str]]] = field(default_factory=dict)
    starts: dict[str, Start] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    here: bool = True

    @classmethod
    def of(
        cls, jobs: list[list[str]], compose: Callable[[list[str]], DictConfig], runs_dir: str, here: bool = True
    ) -> "Plan":
        """Return the plan of jobs.

        Args:
            jobs: the overrides of each.
            compose: returns the config for overrides.
            runs_dir: where run folders lie.
            here: whether runs are trained on this machine.

        Raises:
            UserError: for a value that cannot be meant, options that make two arms of a recipe one run, jobs that are
                one run and measure two things of it, or runs that other code has trained, unless the user has chosen
                what becomes of them.
        """
        plan, folders = cls(here=here), find_folders(runs_dir)
        begun: list[tuple[DictConfig, RunFolder]] = []
        again: list[tuple[DictConfig, RunFolder]] = []
        measured: dict[str, dict[str, Any]] = {}
        for overrides in jobs:
            cfg = compose(overrides)
            settings = check(cfg)
            run = identity(settings)
            folder = RunFolder(folders[run]) if run in folders else None
            if run in plan.members:
                plan._measure_for_both(run, overrides, cfg, measured)
                again += [(cfg, folder)] if folder and not cfg.force else []
            else:
                measured[run] = asked(cfg)
                plan.members[run] = SweepRun(
                    run, readable_name(cfg), cfg.seed, cfg.max_epoch, cfg.max_update, label_of(cfg), task_of(cfg).name
                )
                if folder and not cfg.force:
                    begun.append((cfg, folder))
                if folder is None or not _is_done(cfg, folder):
                    plan._add_missing(run, overrides, cfg)
                    plan.corpora.setdefault(json.dumps(settings["data"]), (cfg, []))[1].append(run)
            if "arm" in cfg:
                plan._add_arm(run, cfg)
        plan._refuse_without_start(folders)
        plan._refuse_unsaved_starts(folders)
        plan.notes = [*filter(None, (refuse_all_of_other_code(begun), _lacking([*begun, *again])))]
        return plan

    def _add_arm(self, run: str, cfg: DictConfig) -> None:
        arms = self.members[run].arms
        if same := [arm for arm in arms if arm.startswith(f"{cfg.recipe}/")]:
            raise UserError(f"{cfg.recipe}/{cfg.arm}: the same run as {same[0]} with these options")
        arms.append(f"{cfg.recipe}/{cfg.arm}")

    def _measure_for_both(
        self, run: str, overrides: list[str], cfg: DictConfig, measured: dict[str, dict[str, Any]]
    ) -> None:
        """Have a run that a further job asks for measured as that job asks, if no earlier one asks for anything.

        Args:
            run: its identity.
            overrides, cfg: of the further job.
            measured: what earlier jobs ask, by identity.

        Raises:
            UserError: where an earlier job asks for something else.
        """
        if not is_to_be_measured(asked(cfg)) or asked(cfg) == measured[run]:
            return
        if is_to_be_measured(measured[run]):
            raise UserError(
                f"{_job_name(overrides, cfg)}: another job has the same run, with other probes or diagnostics; sweep"
                " the two in two commands, each with a runs_dir of its own"
            )
        measured[run] = asked(cfg)
        self.missing = [replace(one, overrides=overrides) if one.identity == run else one for one in self.missing]

    def _add_missing(self, run: str, overrides: list[str], cfg: DictConfig) -> None:
        if self.here:
            check_device(cfg)
        name = _job_name(overrides, cfg)
        if start := task_of(cfg).start(cfg):
            self.starts[run] = start
        self.missing.append(Planned(run, name, overrides, after=start.run if start else ""))

    def _refuse_without_start(self, folders: Mapping[str, Path]) -> None:
        """Refuse runs that start from one that is neither trained nor a part of the sweep.

        Raises:
            UserError: for the first of them, and for one whose start the sweep trains with other options.
        """
        arms = {f"{arm}, seed {member.seed}": run for run, member in self.members.items() for arm in member.arms}
        for planned in self.missing:
            start = self.starts[planned.identity].arm if planned.after else ""
            if arms.get(start, planned.after) != planned.after:
                raise UserError(
                    f"{planned.name}: starts from {start}, as its recipe states it, which this sweep trains with other"
                    " options; train that recipe first, without them"
                )
        lacking = [run for run in self.missing if run.after and run.after not in {*folders, *self.members}]
        if lacking:
            first, *others = lacking
            more = f"; so do {len(others)} more" if others else ""
            start = self.starts[first.identity].arm or first.after
            raise UserError(
                f"{first.name}: starts from the run {start}, which is neither trained nor in this sweep{more}; sweep"
                " both recipes, +recipe=ONE,OTHER"
            )

    def _refuse_unsaved_starts(self, folders: Mapping[str, Path]) -> None:
        """Refuse runs that start from an epoch of which a finished run has no checkpoint.

        Where that run diverged before the epoch, its own followers alone fail, for such is a result of the sweep.

        Raises:
            UserError: for the first of them.
        """
        to_train = {planned.identity for planned in self.missing}
        for planned in self.missing:
            if planned.after in folders and planned.after not in to_train:
                folder = RunFolder(folders[planned.after])
                if folder.status.get("state") == "finished":
                    try:
                        folder.refuse_without_checkpoint(self.starts[planned.identity].epoch)
                    except UserError as error:
                        raise UserError(f"{planned.name}: {error}") from None

    def refuse_missing_epochs(self, compose: Callable[[list[str]], DictConfig]) -> None:
        """Refuse runs that start from an epoch of which a run of this sweep will keep no checkpoint.

        Corpora must be prepared, for epochs of runs that end by their updates are counted.

        Args:
            compose: returns the config for overrides.

        Raises:
            UserError: for the first of them.
        """
        to_train = {planned.identity: planned for planned in self.missing}
        configs = {run: compose(to_train[run].overrides) for run in {one.after for one in self.missing} & set(to_train)}
        last = _last_epochs(configs)
        for planned in self.missing:
            if planned.after in configs:
                epoch, before = self.starts[planned.identity].epoch, to_train[planned.after].name
                if epoch > last[planned.after]:
                    raise UserError(
                        f"{planned.name}: start.epoch={epoch}: {before} ends in epoch {last[planned.after]}"
                    )
                if epoch < last[planned.after] and configs[planned.after].checkpoints.keep != "all":
                    raise UserError(
                        f"{planned.name}: start.epoch={epoch}: {before} may keep no checkpoint of that epoch; say"
                        " checkpoints.keep=all"
                    )

    def prepare(self) -> dict[str, str]:
        """Prepare the corpora here, once, and not in every worker.

        Returns:
            The reasons for those that cannot be prepared, by the names of the runs that need them.

        Raises:
            UserError, OSError: where there is one corpus, and it cannot be prepared.
        """
        failures: dict[str, str] = {}
        for cfg, runs in self.corpora.values():
            try:
                task_of(cfg).prepare(cfg.data, cfg.data_dir)
            except (UserError, OSError) as error:
                if len(self.corpora) == 1:
                    raise
                failures |= {planned.name: str(error) for planned in self.missing if planned.identity in runs}
        self.missing = [planned for planned in self.missing if planned.name not in failures]
        return failures


def _job_name(overrides: list[str], cfg: DictConfig) -> str:
    """Return what messages call a job: its arm and seed, or its overrides."""
    return f"{cfg.recipe}/{cfg.arm}, seed {cfg.seed}" if "arm" in cfg else " ".join(overrides)


def _lacking(begun: Sequence[tuple[DictConfig, RunFolder]]) -> str:
    """Return a line on runs that are over and lack measurements that are asked now; empty for none."""
    found = [(folder.name, less) for cfg, folder in begun if (less := _lacks(cfg, folder))]
    if not found:
        return ""
    (name, less), *others = found
    return f"{name}{f', and {len(others)} more' if others else ''}: {less}"


def _lacks(cfg: DictConfig, folder: RunFolder) -> str:
    """Return what :func:`.measurements.lacking` says of a run that is over; empty where its files are malformed."""
    try:
        return lacking(cfg, folder) if folder.is_done else ""
    except UserError:
        return ""


def _last_epochs(configs: Mapping[str, DictConfig]) -> dict[str, int]:
    """Return the last epoch of runs, by identity; the text of runs that are alike is counted once."""
    if not configs:
        return {}
    from lnexp.planning.arms import what_costs  # here, for torch takes long to import
    from lnexp.planning.epochs import last_epoch

    alike = {run: what_costs(cfg) for run, cfg in configs.items()}
    one_of_each = {alike[run]: cfg for run, cfg in configs.items()}
    last = {settings: last_epoch(cfg) for settings, cfg in one_of_each.items()}
    return {run: last[settings] for run, settings in alike.items()}


def _is_done(cfg: DictConfig, folder: RunFolder) -> bool:
    """Return whether a run is over and stays as it is; of one whose files are malformed that is not known: false."""
    try:
        return is_over(cfg, folder)
    except UserError:
        return False
