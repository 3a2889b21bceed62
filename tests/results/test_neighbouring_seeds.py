"""Runs of neighbouring seeds share the order of their data, an epoch apart: do they end more alike than others?"""

import statistics
from collections.abc import Iterator, Sequence

import numpy as np
import pandas as pd
from helpers import ROOT

#: The fewest seeds of an arm whose order says anything.
FEWEST = 5


def ends_of_arms() -> Iterator[np.ndarray]:
    """Yield the final nlls of every published arm with enough seeds in a row, as ranks by seed, each run once."""
    seen: set[str] = set()
    for path in sorted((ROOT / "results").glob("*/*/*/runs.csv")):
        runs = pd.read_csv(path)
        over = runs[runs["last_valid_nll"].notna()].sort_values("seed")
        for _, arm in over.groupby("arm"):
            in_a_row = (arm["seed"].diff().dropna() == 1).all()
            if len(arm) >= FEWEST and in_a_row and seen.isdisjoint(arm["identity"]):
                seen.update(arm["identity"])
                yield arm["last_valid_nll"].rank().to_numpy()


def alike(ranks: Sequence[float] | np.ndarray) -> float:
    """The correlation of the ranks of neighbours: their autocorrelation at lag 1."""
    centred = np.asarray(ranks) - statistics.fmean(ranks)
    return float((centred[:-1] * centred[1:]).sum() / (centred**2).sum())


def test_they_do_not():
    """docs/recipes-and-claims.md says so, with these numbers."""
    arms = [ranks for ranks in ends_of_arms() if len(set(ranks)) > 1]
    assert len(arms) > 300
    found = statistics.fmean(map(alike, arms))
    shuffle = np.random.default_rng(0).permutation
    by_chance = [statistics.fmean(alike(shuffle(ranks)) for ranks in arms) for _ in range(300)]
    assert min(by_chance) < found < max(by_chance)


def test_ends_that_change_slowly_with_the_seed_would_show():
    assert alike([1, 2, 3, 4, 5, 6]) > 0.4
    assert alike([1, 6, 2, 5, 3, 4]) < -0.4
