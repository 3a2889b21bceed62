"""Add up what the runs behind published results cost."""

from collections.abc import Sequence
from typing import NamedTuple

from lnexp.results.pages.published_folder import PublishedFolder


class Cost(NamedTuple):
    """What runs cost: how many there are, and the hours of one core that training them takes, validation aside."""

    runs: int
    core_hours: float


def cost_of(folders: Sequence[PublishedFolder]) -> Cost:
    """Return what the runs behind folders of results cost, each run once: folders may share them."""
    runs = _runs_of(folders)
    return Cost(len(runs), sum(seconds for _, seconds in runs.values()) / 3600)


def cost_with_seeds(folders: Sequence[PublishedFolder], seeds: int) -> Cost:
    """Return what the runs behind folders of results would cost with so many seeds.

    Folders share runs only where they have the same seeds, so where these differ it is more than recipes that are
    trained together would cost.

    Args:
        folders: of recipes that are trained together.
        seeds: how many seeds an arm has.
    """
    by_seeds: dict[frozenset[int], list[PublishedFolder]] = {}
    for folder in folders:
        by_seeds.setdefault(frozenset(seed for seed, _ in folder.core_seconds.values()), []).append(folder)
    costs = [(len(published), cost_of(alike)) for published, alike in by_seeds.items() if published]
    return Cost(
        sum(cost.runs * seeds // published for published, cost in costs),
        sum(cost.core_hours * seeds / published for published, cost in costs),
    )


def _runs_of(folders: Sequence[PublishedFolder]) -> dict[str, tuple[int, float]]:
    return {name: run for folder in folders for name, run in folder.core_seconds.items()}
