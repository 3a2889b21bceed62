"""Take snapshots of a training at chosen updates: everything that the diagnostics measure around one update."""

import re
from collections.abc import Collection, Iterator
from typing import Any

import torch

import lnexp.training.diagnostics  # noqa: F401  (registers the diagnostics)
from lnexp.runs.records import Record
from lnexp.runs.snapshot_updates import is_due
from lnexp.training.diagnostic import DIAGNOSTICS, Watched

#: Significant digits of a number in a record.
DIGITS = 4
OF_LAYER = re.compile(r"\.layers\.(\d+)")


class Snapshots:
    """The ``snapshot`` records of a training; they change none of its numbers.

    Args:
        at: the option ``diagnostics.at``.
        watched: the models.
    """

    def __init__(self, at: str | Collection[int], watched: Watched):
        self._at = at
        self._diagnostics = [diagnostic(watched) for diagnostic in DIAGNOSTICS.values()]

    def begin(self, update: int) -> None:
        """Prepare for an update that is about to be made, if it is due."""
        if is_due(self._at, update):
            for diagnostic in self._diagnostics:
                diagnostic.begin()

    def records(self, epoch: int, update: int, members: Collection[int]) -> Iterator[tuple[int, Record]]:
        """Yield the record of each of some members, after an update; nothing where none is due."""
        if not is_due(self._at, update):
            return
        found = {name: values for one in self._diagnostics for name, values in one.end().items()}
        by_member = torch.stack([values.to("cpu", torch.double) for values in found.values()], dim=1).tolist()
        for member in members:
            numbers = dict(zip(found, by_member[member], strict=True))
            yield member, {"kind": "snapshot", "epoch": epoch, "update": update, **by_layer(numbers)}


def by_layer(numbers: dict[str, float]) -> dict[str, list[Any]]:
    """Return numbers by name with those of a stack's layers in one list, from the first layer on.

    A layer that has none of a name has None; what is of no layer is a list of one. Numbers have four digits.
    """
    lists: dict[str, list[Any]] = {}
    for name, number in numbers.items():
        layer = int(found[1]) if (found := OF_LAYER.search(name)) else 0
        of_name = lists.setdefault(OF_LAYER.sub("", name), [])
        of_name.extend([None] * (layer + 1 - len(of_name)))
        of_name[layer] = float(f"{number:.{DIGITS}g}")
    return lists
