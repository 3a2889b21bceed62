"""Share the batches of an update among the processes of a run."""

from omegaconf import DictConfig

from lnexp.errors import UserError
from lnexp.training.ranks import Ranks


def share_out(fairseq: DictConfig, ranks: Ranks) -> None:
    """Configure fairseq's trainer as one of the processes of a run.

    An update has the same batches whatever the number of processes (fairseq's ``update_freq`` of a single process):
    each process has an equal part of them.

    Raises:
        UserError: where the batches cannot be shared evenly.
    """
    training = fairseq.distributed_training
    training.distributed_world_size, training.distributed_rank = ranks.size, ranks.rank
    training.device_id, training.distributed_no_spawn = ranks.local, True
    # each reads checkpoints for itself: sent from one to another, torch would refuse what they hold
    fairseq.checkpoint.load_checkpoint_on_all_dp_ranks = True
    fairseq.optimization.update_freq = [share(count, ranks) for count in fairseq.optimization.update_freq]


def share(batches: int, ranks: Ranks) -> int:
    """Return how many batches of an update each process has. Raises UserError where they cannot be shared evenly."""
    if batches % ranks.size:
        raise UserError(
            f"update_freq={batches}: the batches of an update cannot be shared evenly among {ranks.size} processes;"
            f" take {', '.join(map(str, _fitting(batches, batches)))}"
        )
    return batches // ranks.size


def fitting(batches: int, at_most: int) -> int:
    """Return the largest number of processes, up to ``at_most``, that share so many batches evenly; at least 1."""
    return _fitting(batches, max(at_most, 1))[-1]


def _fitting(batches: int, at_most: int) -> list[int]:
    """Return every number of processes, up to ``at_most``, that shares so many batches evenly."""
    return [count for count in range(1, at_most + 1) if batches % count == 0]
