"""Up to version 2 of the numerics neighbouring seeds have one order of the data, an epoch apart: do they end alike?"""

import io
import statistics
import subprocess
from collections.abc import Sequence
from pathlib import PurePath

import numpy as np
import pandas as pd
from helpers import ROOT

from lnexp.recipes.load import load_recipe

#: The last commit at which everything published is of such a version; since then results are made again.
COMMIT = "df649006"
#: The fewest seeds of an arm whose order says anything.
FEWEST = 5
SHUFFLES = 300


def git(*words: str) -> str:
    """What a git command prints."""
    return subprocess.run(["git", "-C", ROOT, *words], capture_output=True, text=True, check=True).stdout


def ends_of_arms() -> list[pd.DataFrame]:
    """The final nlls of every published arm as ranks, seeds by arms of one recipe and corpus; each run once.

    Arms with fewer seeds, or with gaps between them, are left out, and recipes whose seeds all have one order.
    """
    found, seen = [], set()
    listed = git("ls-tree", "-r", "--name-only", COMMIT, "results").splitlines()
    for path in sorted(name for name in listed if name.endswith("/runs.csv")):
        if any(setting.startswith("order_seed=") for setting in load_recipe(PurePath(path).parent.name).settings):
            continue
        runs = pd.read_csv(io.StringIO(git("show", f"{COMMIT}:{path}")))
        runs = runs[runs["last_valid_nll"].notna() & ~runs["identity"].isin(seen)]
        seen.update(runs["identity"])
        ends = runs.pivot(index="seed", columns="arm", values="last_valid_nll").dropna(axis="columns")
        if len(ends) >= FEWEST and (np.diff(ends.index) == 1).all():
            found.append(ends.loc[:, ends.nunique() > 1].rank())
    return found


def alike(ranks: Sequence[float] | np.ndarray) -> float:
    """The correlation of the ranks of neighbours: their autocorrelation at lag 1."""
    centred = np.asarray(ranks) - statistics.fmean(ranks)
    return float((centred[:-1] * centred[1:]).sum() / (centred**2).sum())


def mean_alike(tables: Sequence[np.ndarray]) -> float:
    return statistics.fmean(alike(arm) for table in tables for arm in table.T)


def test_they_do_not():
    tables = [table.to_numpy() for table in ends_of_arms()]
    arms = sum(table.shape[1] for table in tables)
    assert arms > 200
    shuffle = np.random.default_rng(0).permutation  # of whole seeds, because arms of one seed are alike
    by_chance = [mean_alike([shuffle(table) for table in tables]) for _ in range(SHUFFLES)]
    found, low, high = (mean_alike(tables), *np.percentile(by_chance, [2.5, 97.5]))
    assert found < high
    said = " ".join((ROOT / "docs" / "recipes-and-claims.md").read_text(encoding="utf-8").split())
    numbers = (
        f"{arms} arms of five seeds or more the final nlls of neighbours have a rank correlation of {found:.2f}, and"
    )
    assert f"{numbers} those of shuffled seeds {low:.2f} to {high:.2f}".replace("-0.", "−0.") in said


def test_ends_that_change_slowly_with_the_seed_would_show():
    assert alike([1, 2, 3, 4, 5, 6]) > 0.4
    assert alike([1, 6, 2, 5, 3, 4]) < -0.4
