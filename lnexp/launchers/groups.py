"""Which runs of a sweep can be trained as one array."""

from collections import defaultdict
from collections.abc import Sequence

from omegaconf import DictConfig

from lnexp.hashing import short_hash
from lnexp.plain import drop, plain
from lnexp.runs.folder import RunFolder

#: What each member of an array has of its own; in everything else they agree.
OWN = (
    "scale",  # what other settings are made of
    "seed",
    "lr_max",
    "warmup_updates",
    "optimizer",
    "lr_schedule",
    "recipe",
    "arm",
    "fairseq.common.seed",
    "fairseq.optimization.lr",
    "fairseq.optimizer",
    "fairseq.lr_scheduler",
)


def group(cfgs: Sequence[DictConfig], most: int) -> list[list[int]]:
    """Their numbers in groups of at most ``most``, each of which can be one array.

    Members of an array see the same batches, so runs whose order of the data differs (``order_seed``, which is the seed
    unless it is set) are not in one. Nor are runs that stand at different epochs, unless the one ahead has kept the
    checkpoint that the others are at, as after a kill between two members' checkpoints.
    """
    alike: dict[str, list[int]] = defaultdict(list)
    for number, cfg in enumerate(cfgs):
        alike[_shared(cfg)].append(number)
    return [
        part[start : start + most]
        for numbers in alike.values()
        for part in _at_one_epoch(numbers, cfgs)
        for start in range(0, len(part), most)
    ]


def _shared(cfg: DictConfig) -> str:
    settings = plain(cfg)
    for key in OWN:
        drop(settings, key)
    return short_hash(settings)


def _at_one_epoch(numbers: list[int], cfgs: Sequence[DictConfig]) -> list[list[int]]:
    """Groups of runs that can go on from a common epoch."""
    kept = {number: RunFolder.of(cfgs[number]).checkpoint_epochs() for number in numbers}
    if any(cfgs[number].force for number in numbers):
        kept = {number: [] for number in numbers}
    at: dict[int, list[int]] = defaultdict(list)
    for number in sorted(numbers, key=lambda number: max(kept[number], default=0)):
        last = max(kept[number], default=0)
        at[last - 1 if last - 1 in at and last - 1 in kept[number] else last].append(number)
    return [sorted(group) for group in at.values()]
