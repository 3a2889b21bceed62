"""Plan a sweep: which runs its jobs are, each once, and which of them are to be trained."""

import json
from collections.abc import Callable
from dataclasses import dataclass, field

from omegaconf import DictConfig

from lnexp.configuration import check, check_device
from lnexp.errors import UserError
from lnexp.launchers.retry import Planned
from lnexp.plain import plain
from lnexp.runs.folder import DONE, find_folders, status_of
from lnexp.runs.identity import identity, label_of, readable_name
from lnexp.runs.sweep import SweepRun
from lnexp.tasks import task_of


@dataclass
class Plan:
    """The runs of a sweep.

    Attributes:
        members: all of them, by identity.
        missing: those that are not done.
        corpora: the corpora that missing runs need: by settings, a config with them, and the identities of the runs.
    """

    members: dict[str, SweepRun] = field(default_factory=dict)
    missing: list[Planned] = field(default_factory=list)
    corpora: dict[str, tuple[DictConfig, list[str]]] = field(default_factory=dict)

    @classmethod
    def of(cls, jobs: list[list[str]], compose: Callable[[list[str]], DictConfig], runs_dir: str) -> "Plan":
        """Return the plan of jobs.

        Args:
            jobs: the overrides of each.
            compose: returns the config for overrides.
            runs_dir: where run folders lie.

        Raises:
            UserError: for a value that cannot be meant, or options that make two arms of a recipe one run.
        """
        plan, folders = cls(), find_folders(runs_dir)
        for overrides in jobs:
            cfg = compose(overrides)
            check(cfg)
            run = identity(cfg)
            if run not in plan.members:
                plan.members[run] = SweepRun(
                    run, readable_name(cfg), cfg.seed, cfg.max_epoch, cfg.max_update, label_of(cfg), task_of(cfg).name
                )
                if cfg.force or status_of(folders.get(run)).get("state") not in DONE:
                    plan._add_missing(run, overrides, cfg)
            if "arm" in cfg:
                plan._add_arm(run, cfg)
        return plan

    def _add_arm(self, run: str, cfg: DictConfig) -> None:
        arms = self.members[run].arms
        if same := [arm for arm in arms if arm.startswith(f"{cfg.recipe}/")]:
            raise UserError(f"{cfg.recipe}/{cfg.arm}: the same run as {same[0]} with these options")
        arms.append(f"{cfg.recipe}/{cfg.arm}")

    def _add_missing(self, run: str, overrides: list[str], cfg: DictConfig) -> None:
        check_device(cfg)
        name = f"{cfg.recipe}/{cfg.arm}, seed {cfg.seed}" if "arm" in cfg else " ".join(overrides)
        self.missing.append(Planned(run, name, overrides))
        self.corpora.setdefault(json.dumps(plain(cfg.data)), (cfg, []))[1].append(run)

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
