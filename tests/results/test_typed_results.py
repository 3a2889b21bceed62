"""What recipes say by hand of published results, in ``known`` and ``doubt``, is what the tables have."""

from collections.abc import Callable
from typing import NamedTuple

import pandas as pd
import pytest
from helpers import ROOT
from scipy.stats import gmean, t

from lnexp.results.pages.published_folder import PublishedFolder

SMALL, MEDIUM = ROOT / "results/small/toy", ROOT / "results/medium/multi30k"


class Stated(NamedTuple):
    """A sentence of a recipe, with a gap for each number, and where the numbers come from."""

    recipe: str
    words: str
    numbers: Callable[[], list[float]]


def runs(folder: str, arm: str, column: str, root=SMALL) -> pd.Series:
    """A column of the runs of an arm, by seed."""
    table = pd.read_csv(root / folder / "runs.csv")
    return table[table.arm == arm].set_index("seed")[column].sort_index()


def nlls(folder: str, arm: str, root=SMALL) -> pd.Series:
    return runs(folder, arm, "last_valid_nll", root)


def extremes(values: pd.Series) -> list[float]:
    return [values.min(), values.max()]


def flat_sharpness(arm: str) -> pd.Series:
    """The geometric mean of an arm's sharpness over updates 23 to 181, by seed."""
    table = pd.read_csv(SMALL / "sharpness/snapshots.csv").query("arm == @arm and 23 <= update <= 181")
    return table.dropna(subset="sharpness").groupby("seed").sharpness.apply(gmean)


def adam_2k_of_failing() -> list[float]:
    none, gathered = (nlls("adam_2k", arm) for arm in ("none", "adam_2k"))
    failing = none.index[none > 1]
    return [*none[failing], *gathered[failing]]


def cost_of_pre_ln() -> list[float]:
    """What no warm-up costs Pre-LN in warmup_by_rate, each at the rate of the lowest mean, with its 90% interval."""
    best = {}
    for warmup in ("none", "long"):
        by_rate = [nlls("warmup_by_rate", f"pre_ln_{warmup}_x{2**power}") for power in range(7)]
        best[warmup] = min(by_rate, key=pd.Series.mean)
    cost = best["none"] - best["long"]
    return [cost.mean(), *t.interval(0.9, len(cost) - 1, cost.mean(), cost.sem())]


STATED = [
    Stated("map", "Post-LN runs end at {:.2f}, {:.2f} and {:.2f}", lambda: list(nlls("map", "post_ln_none_x4"))),
    Stated("map", "lie between {:.2f} and {:.2f}", lambda: extremes(nlls("warmup_by_rate", "post_ln_none_x4"))),
    Stated("map", "have {:.3f} with the 90% interval [{:.3f}, {:.3f}]", cost_of_pre_ln),
    Stated(
        "adam_2k",
        "four of these six seeds train without warm-up, at nlls of {:.2f} to {:.2f}",
        lambda: extremes(nlls("adam_2k", "none")[lambda nll: nll < 1]),
    ),
    Stated("adam_2k", "the other two ({:.1f} and {:.1f} against {:.2f} and {:.2f})", adam_2k_of_failing),
    Stated(
        "linear_probes",
        "seed 75 (BLEU {:.1f}, the others at most {:.1f})",
        lambda: sorted(runs("failure", "post_ln_none", "best_valid_bleu"))[:-3:-1],
    ),
    Stated(
        "sharpness",
        "seed 84 (BLEU {:.1f}), and seed 82 nearly did ({:.1f})",
        lambda: list(runs("sharpness", "post_ln_none", "best_valid_bleu")[[84, 82]]),
    ),
    Stated("sharpness", "means of {:.0f} to {:.0f} nats", lambda: extremes(flat_sharpness("post_ln_none"))),
    Stated("sharpness", "and of {:.0f} to {:.0f} with warm-up", lambda: extremes(flat_sharpness("post_ln_full"))),
    Stated("sharpness", "is as flat then ({:.0f} to {:.0f})", lambda: extremes(flat_sharpness("pre_ln_none"))),
    Stated(
        "tuned_rate",
        "of Post-LN {:.2f} without warm-up and {:.2f} with it",
        lambda: [nlls("placement_decoupled", f"post_ln_{one}", MEDIUM).mean() for one in ("none", "full")],
    ),
    Stated(
        "tuned_rate",
        "(fig2a; {:.2f} and {:.2f})",
        lambda: [nlls("fig2a", f"{one}_high", MEDIUM).mean() for one in ("no_warmup", "warmup")],
    ),
    Stated("tuned_rate", "(small_fixed_lr; {:.2f})", lambda: [nlls("small_fixed_lr", "fixed", MEDIUM).mean()]),
    Stated(
        "interventions_real_text",
        "a constant rate of 4e-4 ({:.2f})",
        lambda: [nlls("small_fixed_lr", "fixed", MEDIUM).mean()],
    ),
    Stated(
        "interventions_real_text",
        "(final nll {:.2f} to {:.2f}) and 0.999",
        lambda: extremes(nlls("radam", "post_ln_radam", MEDIUM)),
    ),
]


def says(recipe: str, words: str) -> bool:
    """Whether a recipe says something, wherever its lines break."""
    return words in " ".join((ROOT / f"recipes/{recipe}.yaml").read_text(encoding="utf-8").split())


@pytest.mark.parametrize("stated", STATED, ids=lambda stated: f"{stated.recipe}: {stated.words}")
def test_numbers_that_a_recipe_states_are_those_of_the_tables(stated):
    words = stated.words.format(*stated.numbers())
    assert says(stated.recipe, words), words


@pytest.mark.parametrize(
    ("recipe", "words", "folder", "arm", "trained"),
    [
        ("interventions", "Three of the six runs without warm-up train", "interventions", "none", "3 of 6"),
        ("interventions", "there four of six also train without it", "adam_2k", "none", "4 of 6"),
        ("stall", "One of the six runs without warm-up trains", "stall", "none", "1 of 6"),
        ("stall", "three of six trained, as without it", "interventions", "beta2_low", "3 of 6"),
        ("adam_2k", "With both moments gathered one of six trains.", "adam_2k", "gathered_moments", "1 of 6"),
        (
            "linear_probes",
            "One of the six runs of Post-LN without warm-up trained",
            "failure",
            "post_ln_none",
            "1 of 6",
        ),
        ("sharpness", "One of the six runs of Post-LN without warm-up trained", "sharpness", "post_ln_none", "1 of 6"),
    ],
)
def test_how_many_runs_a_recipe_says_train(recipe, words, folder, arm, trained):
    assert says(recipe, words)
    assert PublishedFolder(SMALL / folder).trained(arm) == trained


def test_when_the_greatest_logits_of_failing_runs_come():
    assert says("failure", "come late, from update 256 on in all six")
    of_arm = pd.read_csv(SMALL / "failure/snapshots.csv").query("arm == 'post_ln_none'")
    greatest = of_arm.loc[of_arm.groupby("seed").attention_logit.idxmax()]
    assert len(greatest) == 6
    assert greatest["update"].min() == 256


def test_that_no_intervention_trains_on_real_text():
    assert says("interventions", "on Multi30k none of five with it")
    folder = PublishedFolder(MEDIUM / "interventions_real_text")
    changed = [arm for arm in folder.arms if arm not in ("warmup", "pre_ln")]
    assert {folder.trained(arm) for arm in changed} == {"0 of 5"}
