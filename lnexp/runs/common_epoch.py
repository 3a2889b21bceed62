"""Find the epoch from which several runs can be resumed together."""

from collections import defaultdict
from collections.abc import Sequence

from lnexp.runs.folder import RunFolder


def common_epoch(folders: Sequence[RunFolder]) -> int:
    """Return the last epoch of which every run has a checkpoint; 0 where there is none."""
    return max(set.intersection(*(set(folder.saved.epochs()) for folder in folders)), default=0)


def at_one_epoch(kept: Sequence[Sequence[int]]) -> list[list[int]]:
    """Return the numbers of runs in groups that can be resumed from a common epoch.

    Runs at different epochs cannot be resumed together, unless the run that is ahead has kept the checkpoint of the
    epoch of the others, as after a kill between two members' checkpoints. One that is ahead by its first epoch has it:
    it begins anew.

    Args:
        kept: for each run the epochs of its checkpoints.
    """
    at: dict[int, list[int]] = defaultdict(list)
    for number in sorted(range(len(kept)), key=lambda number: max(kept[number], default=0)):
        last = max(kept[number], default=0)
        at[last - 1 if last - 1 in at and last - 1 in (0, *kept[number]) else last].append(number)
    return [sorted(group) for group in at.values()]
