"""Train the runs of a sweep that have one shape as one array, those that are probed alone: ``hydra/launcher=array``."""

import copy
from collections import Counter, defaultdict
from collections.abc import Sequence

from hydra.core.utils import JobReturn, JobStatus
from joblib import Parallel, delayed, parallel_config
from omegaconf import DictConfig

from lnexp.checks import check_whole
from lnexp.configuration import shared_settings
from lnexp.hashing import short_hash
from lnexp.launchers.composing_launcher import ComposingLauncher
from lnexp.launchers.worker import set_up_worker
from lnexp.processes import hide_leaked_locks, ignore_interrupts
from lnexp.runs.code import is_trained_afresh
from lnexp.runs.common_epoch import at_one_epoch
from lnexp.runs.folder import RunFolder

#: The configs of jobs that one array can train, by the jobs' numbers.
Group = dict[int, DictConfig]
#: What became of jobs, by their numbers: run folders, or why they were not trained.
Outcomes = dict[int, RunFolder | Exception]


class ArrayLauncher(ComposingLauncher):
    """Trains jobs in groups, each as one array, in this process or in several.

    In this process small groups come first, so that a stop in the last one spares the others; several processes take
    them recipe by recipe, as :func:`evened_out` says. A group that does not fit into the GPU's memory is halved.

    Args:
        max_members: the most runs in one array.
        processes: how many train at the same time, an array each; 1 is this process itself.
        warn: whether to warn of runs that no other one can share an array with.

    Raises:
        UserError: for fewer than one member or process.
    """

    def __init__(self, max_members: int, processes: int = 1, warn: bool = True):
        check_whole("hydra.launcher.max_members", max_members, 1)
        check_whole("hydra.launcher.processes", processes, 1)
        self.max_members, self.processes, self._warn = max_members, processes, warn

    def launch(self, job_overrides: Sequence[Sequence[str]], initial_job_idx: int) -> list[JobReturn]:
        """Train all jobs, and return in their order what became of each.

        Raises:
            TerminatedWorkerError: where one of several processes died.
        """
        cfgs = self.compose(job_overrides)
        groups = [{number: cfgs[number] for number in numbers} for numbers in group(cfgs, self.max_members)]
        if self._warn and (alone := why_alone(cfgs, self.max_members)):
            print(alone, flush=True)
        trained = self._train_at_once(groups) if self.processes > 1 else self._train_in_turn(groups)
        outcomes = {number: outcome for part in trained for number, outcome in part.items()}
        return [
            _job_return(overrides, cfg, outcomes[number])
            for number, (overrides, cfg) in enumerate(zip(job_overrides, cfgs, strict=True))
        ]

    def _train_in_turn(self, groups: list[Group]) -> list[Outcomes]:
        return [_train(members) for members in sorted(groups, key=len)]

    def _train_at_once(self, groups: list[Group]) -> list[Outcomes]:
        work = (delayed(_train)(members) for members in evened_out(groups, self.processes))
        hide_leaked_locks()
        with parallel_config(backend="loky", initializer=_start_worker):
            return list(Parallel(n_jobs=self.processes, batch_size=1, pre_dispatch=self.processes)(work))


def _start_worker() -> None:
    """Set a worker up before its first job, which it may wait for: its parent can be killed before it has one."""
    ignore_interrupts()
    set_up_worker()


def _train(members: Group) -> Outcomes:
    """Train a group of jobs as one array, or as two, where it does not fit into memory; a run that is probed alone."""
    from lnexp.training.memory import is_out_of_memory, release_memory
    from lnexp.training.run import train_array

    if any(cfg.probes.every for cfg in members.values()):
        return {number: _train_alone(cfg) for number, cfg in members.items()}
    outcomes = train_array(list(members.values()))
    release_memory()
    if len(members) > 1 and any(map(is_out_of_memory, outcomes)):
        print(f"an array of {len(members)} does not fit into memory: it is trained in two halves", flush=True)
        first, second = _halves({number: _without_force(cfg) for number, cfg in members.items()})
        return _train(first) | _train(second)
    return dict(zip(members, outcomes, strict=True))


def _train_alone(cfg: DictConfig) -> RunFolder | Exception:
    """Train a run that no array can have, and return its folder, or why it was not trained."""
    from lnexp.training.run import train_run, without_frames

    try:
        return train_run(cfg)
    except Exception as error:
        return without_frames(error)


def _without_force(cfg: DictConfig) -> DictConfig:
    """Return a config without ``force``, which has cleared the run's folder once, if something was trained since."""
    resumed = copy.deepcopy(cfg)
    resumed.force = cfg.force and not RunFolder.of(cfg).saved.epochs()
    return resumed


def evened_out(groups: Sequence[Group], processes: int) -> list[Group]:
    """Return groups recipe by recipe, each recipe's large ones first, so that its processes end at about one time.

    Those of the sweep's first recipe are as many as keep all processes busy: where these would wait for its last
    groups, they are halved, for two processes are as long at three groups as at four.
    """
    recipes = [_recipe_of(members) for members in sorted(groups, key=min)]
    ordered = sorted(groups, key=lambda members: (recipes.index(_recipe_of(members)), -len(members), min(members)))
    first = recipes.count(recipes[0])
    halved = range(first - min(-first % processes, first), first)
    return [
        part
        for number, members in enumerate(ordered)
        for part in (_halves(members) if number in halved and len(members) > 1 else [members])
    ]


def _recipe_of(members: Group) -> str | None:
    """Return the recipe of a group's first job; None for a job of no recipe."""
    recipe: str | None = members[min(members)].get("recipe")
    return recipe


def _halves(members: Group) -> list[Group]:
    half, jobs = (len(members) + 1) // 2, list(members.items())
    return [dict(jobs[:half]), dict(jobs[half:])]


def _job_return(overrides: Sequence[str], cfg: DictConfig, outcome) -> JobReturn:
    failed = isinstance(outcome, Exception)
    return JobReturn(
        overrides=list(overrides),
        cfg=cfg,
        status=JobStatus.FAILED if failed else JobStatus.COMPLETED,
        _return_value=outcome if failed else outcome.best_nll(),
    )


def group(cfgs: Sequence[DictConfig], most: int) -> list[list[int]]:
    """Return the numbers of runs in groups, each of which can be one array.

    Members of an array see the same batches, so runs whose order of the data differs (``order_seed``, which is the seed
    unless it is set) are not in one. Nor are runs that cannot be resumed from one epoch, and those with probes.

    Args:
        cfgs: the config of each run.
        most: how many runs a group has at most.
    """
    alike: dict[str, list[int]] = defaultdict(list)
    for number, cfg in enumerate(cfgs):
        alike[f"{short_hash(shared_settings(cfg))}{number if cfg.probes.every else ''}"].append(number)
    return [
        [numbers[place] for place in part[start : start + most]]
        for numbers in alike.values()
        for part in at_one_epoch([_kept(cfgs[number]) for number in numbers])
        for start in range(0, len(part), most)
    ]


def why_alone(cfgs: Sequence[DictConfig], most: int) -> str:
    """Return a line on the runs that no other one can share an array with, and why; empty where there are none."""
    if len(cfgs) == 1 or most == 1:
        return ""
    if probed := sum(bool(cfg.probes.every) for cfg in cfgs):
        return f"warning: {probed} of {len(cfgs)} runs train alone, not in an array: it has no probes"
    shapes = [short_hash(shared_settings(cfg)) for cfg in cfgs]
    alike = Counter(shapes)
    alone = [number for number, shape in enumerate(shapes) if alike[shape] == 1]
    if not alone:
        return ""
    orderless = [short_hash(shared_settings(cfg, order=False)) for cfg in cfgs]
    by_order = all(orderless.count(orderless[number]) > 1 for number in alone)
    why = (
        "each seed has an order of the data of its own; order_seed=1 gives all one order"
        if by_order
        else "no other run has the same shapes, data and start"
    )
    return f"warning: {len(alone)} of {len(cfgs)} runs train alone, not in an array: {why}"


def _kept(cfg: DictConfig) -> list[int]:
    """Return the epochs of the checkpoints that a run can be resumed from."""
    folder = RunFolder.of(cfg)
    return [] if is_trained_afresh(cfg, folder) else folder.saved.epochs()
