"""Which runs of a sweep can be trained as one array."""

from collections import defaultdict
from collections.abc import Sequence

from omegaconf import DictConfig

from lnexp.configuration import table_of
from lnexp.hashing import short_hash
from lnexp.plain import drop, plain
from lnexp.runs.common_epoch import at_one_epoch
from lnexp.runs.folder import RunFolder


def group(cfgs: Sequence[DictConfig], most: int) -> list[list[int]]:
    """Their numbers in groups of at most ``most``, each of which can be one array.

    Members of an array see the same batches, so runs whose order of the data differs (``order_seed``, which is the seed
    unless it is set) are not in one. Nor are runs that cannot go on from one epoch.
    """
    alike: dict[str, list[int]] = defaultdict(list)
    for number, cfg in enumerate(cfgs):
        alike[_shared(cfg)].append(number)
    return [
        [numbers[place] for place in part[start : start + most]]
        for numbers in alike.values()
        for part in at_one_epoch([_kept(cfgs[number]) for number in numbers])
        for start in range(0, len(part), most)
    ]


def _shared(cfg: DictConfig) -> str:
    settings = plain(cfg)
    for key in table_of(cfg).places(lambda option: option.per_member):
        drop(settings, key)
    return short_hash(settings)


def _kept(cfg: DictConfig) -> list[int]:
    """The epochs of the checkpoints that a run goes on from."""
    return [] if cfg.force else RunFolder.of(cfg).checkpoint_epochs()
