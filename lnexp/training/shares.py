"""One update's batches, shared among the processes of a run."""

from omegaconf import DictConfig

from lnexp.errors import UserError
from lnexp.training.ranks import Ranks


def share_out(fairseq: DictConfig, ranks: Ranks) -> None:
    """Have fairseq's trainer be one of the processes of a run.

    The batches of an update (fairseq's ``update_freq`` in one process) stay those of one process, whatever their
    number: each process has its part of them.

    Raises:
        UserError: where they are not to be shared evenly.
    """
    training = fairseq.distributed_training
    training.distributed_world_size, training.distributed_rank = ranks.size, ranks.rank
    training.device_id, training.distributed_no_spawn = ranks.local, True
    # each reads checkpoints for itself: sent from one to another, torch would refuse what they hold
    fairseq.checkpoint.load_checkpoint_on_all_dp_ranks = True
    fairseq.optimization.update_freq = [share(count, ranks) for count in fairseq.optimization.update_freq]


def share(batches: int, ranks: Ranks) -> int:
    """How many of an update's batches each process has. Raises UserError where they are not to be shared evenly."""
    if batches % ranks.size:
        raise UserError(
            f"update_freq={batches}: the batches of an update are not to be shared among {ranks.size} processes;"
            f" take {', '.join(map(str, _fitting(batches, batches)))}"
        )
    return batches // ranks.size


def fitting(batches: int, at_most: int) -> int:
    """The most processes, up to ``at_most``, that share so many batches evenly; at least one."""
    return _fitting(batches, max(at_most, 1))[-1]


def _fitting(batches: int, at_most: int) -> list[int]:
    """Every number of processes that does."""
    return [count for count in range(1, at_most + 1) if batches % count == 0]
