"""Train the runs of a sweep that have one shape as one array: ``hydra/launcher=array``."""

from collections import defaultdict
from collections.abc import Sequence

from hydra.core.utils import JobReturn, JobStatus
from omegaconf import DictConfig

from lnexp.checks import check_whole
from lnexp.composer import ComposingLauncher
from lnexp.configuration import shared_settings
from lnexp.hashing import short_hash
from lnexp.runs.common_epoch import at_one_epoch
from lnexp.runs.folder import RunFolder


class ArrayLauncher(ComposingLauncher):
    """Trains jobs in groups, one after another, in this process.

    A group that does not fit into the GPU's memory is halved.

    Args:
        max_members: the most runs in one array.

    Raises:
        UserError: for fewer than one member.
    """

    def __init__(self, max_members: int):
        check_whole("hydra.launcher.max_members", max_members, 1)
        self.max_members = max_members

    def launch(self, job_overrides: Sequence[Sequence[str]], initial_job_idx: int) -> list[JobReturn]:
        """Train all jobs, and return in their order what became of each."""
        cfgs = self.compose(job_overrides)
        returns: dict[int, JobReturn] = {}
        for numbers in sorted(group(cfgs, self.max_members), key=len):  # a stop in the last one spares the others
            for number, outcome in self._train(numbers, cfgs).items():
                returns[number] = _job_return(job_overrides[number], cfgs[number], outcome)
        return [returns[number] for number in range(len(cfgs))]

    def _train(self, numbers: list[int], cfgs: list[DictConfig]) -> dict:
        """Train a group of jobs, and return their run folders, or exceptions, by their numbers."""
        from lnexp.training.memory import is_out_of_memory, release_memory
        from lnexp.training.run import train_array

        outcomes = train_array([cfgs[number] for number in numbers])
        release_memory()
        if len(numbers) > 1 and any(map(is_out_of_memory, outcomes)):
            half = (len(numbers) + 1) // 2
            print(f"an array of {len(numbers)} does not fit into memory: it is trained in two halves", flush=True)
            return self._train(numbers[:half], cfgs) | self._train(numbers[half:], cfgs)
        return dict(zip(numbers, outcomes, strict=True))


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
    unless it is set) are not in one. Nor are runs that cannot be resumed from one epoch.

    Args:
        cfgs: the config of each run.
        most: how many runs a group has at most.
    """
    alike: dict[str, list[int]] = defaultdict(list)
    for number, cfg in enumerate(cfgs):
        alike[short_hash(shared_settings(cfg))].append(number)
    return [
        [numbers[place] for place in part[start : start + most]]
        for numbers in alike.values()
        for part in at_one_epoch([_kept(cfgs[number]) for number in numbers])
        for start in range(0, len(part), most)
    ]


def _kept(cfg: DictConfig) -> list[int]:
    """Return the epochs of the checkpoints that a run can be resumed from."""
    return [] if cfg.force else RunFolder.of(cfg).checkpoint_epochs()
