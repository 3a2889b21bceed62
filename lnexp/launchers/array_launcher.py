"""``hydra/launcher=array``: the runs of a sweep that have one shape are trained as one array."""

from collections.abc import Sequence

from hydra.core.utils import JobReturn, JobStatus
from omegaconf import DictConfig

from lnexp.errors import UserError
from lnexp.launchers.composing import ComposingLauncher
from lnexp.launchers.groups import group


class ArrayLauncher(ComposingLauncher):
    """Groups the jobs it is given and trains the groups one after another, small ones first, in this process.

    A group that the GPU's memory is too small for is halved.

    Args:
        max_members: the most runs in one array.

    Raises:
        UserError: for fewer than one member.
    """

    def __init__(self, max_members: int):
        if max_members < 1:
            raise UserError(f"hydra.launcher.max_members={max_members}: must be at least 1")
        self.max_members = max_members

    def launch(self, job_overrides: Sequence[Sequence[str]], initial_job_idx: int) -> list[JobReturn]:
        """Train them all; in the order of the jobs, what became of each."""
        cfgs = self.compose(job_overrides)
        returns: dict[int, JobReturn] = {}
        for numbers in sorted(group(cfgs, self.max_members), key=len):  # a cut in the last one spares the others
            for number, outcome in self._train(numbers, cfgs).items():
                returns[number] = _job_return(job_overrides[number], cfgs[number], outcome)
        return [returns[number] for number in range(len(cfgs))]

    def _train(self, numbers: list[int], cfgs: list[DictConfig]) -> dict:
        from lnexp.training.memory import is_out_of_memory, release_memory
        from lnexp.training.run import train_array

        outcomes = train_array([cfgs[number] for number in numbers])
        release_memory()
        if len(numbers) > 1 and any(map(is_out_of_memory, outcomes)):
            half = (len(numbers) + 1) // 2
            print(f"an array of {len(numbers)} does not fit into the memory: in two halves", flush=True)
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
