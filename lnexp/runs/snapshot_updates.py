"""Say at which updates a run takes snapshots."""

from collections.abc import Collection
from itertools import count, takewhile

#: How many snapshots ``log`` takes while the number of updates doubles.
PER_DOUBLING = 4


def is_due(at: str | Collection[int], update: int) -> bool:
    """Return whether a snapshot of an update, from 1, is to be taken; ``at`` as in :func:`due_until`."""
    return update in (due_until(at, update) if isinstance(at, str) else at)


def due_until(at: str | Collection[int], end: int) -> list[int]:
    """Return the updates until ``end`` at which a snapshot is due, in order.

    Args:
        at: the option ``diagnostics.at``: the updates, or ``log`` for ``round(2^(k/4))``, which is every update up to
            8, 31 of the first 480 and 49 of the first 10,000.
        end: the number of an update, from 1.
    """
    if not isinstance(at, str):
        return sorted({update for update in at if 1 <= update <= end})
    numbers = (round(2 ** (k / PER_DOUBLING)) for k in count())
    return list(dict.fromkeys(takewhile(lambda update: update <= end, numbers)))
