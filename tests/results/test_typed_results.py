"""What recipes say by hand of published results, in ``known`` and ``doubt``, is what the tables have."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import pandas as pd
import pytest
from helpers import ROOT
from scipy.stats import t

from lnexp.results.pages.published_folder import PublishedFolder

SMALL, MEDIUM = ROOT / "results/small/toy", ROOT / "results/medium/multi30k"
PAPER, THEORY = ROOT / "results/paper/iwslt14-subset", ROOT / "results/theory/toy"


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


def mean_sharpness(warmup: str) -> pd.Series:
    """The mean sharpness in the middle of training, of each placement with a warm-up."""
    arms = [f"{placement}_{warmup}" for placement in ("post_ln", "pre_ln", "deep_norm", "peri_ln")]
    return pd.Series([runs("sharpness", arm, "middle_sharpness").mean() for arm in arms])


def cost_of_pre_ln() -> list[float]:
    """What no warm-up costs Pre-LN in warmup_by_rate, each at the rate of the lowest mean, with its 90% interval."""
    best = {}
    for warmup in ("none", "long"):
        by_rate = [nlls("warmup_by_rate", f"pre_ln_{warmup}_x{2**power}") for power in range(7)]
        best[warmup] = min(by_rate, key=pd.Series.mean)
    cost = best["none"] - best["long"]
    return [cost.mean(), *t.interval(0.9, len(cost) - 1, cost.mean(), cost.sem())]


def fall_of_gradients(arm: str) -> tuple[pd.Series, pd.Series]:
    """The last W²'s gradient after the warm-up over that before it in fig3_warmup, and the geometric mean of that of
    all matrices, by seed.
    """
    table = pd.read_csv(SMALL / "fig3_warmup/probes.csv").query("arm == @arm and parameter in ('W1', 'W2')")
    logs = table.assign(log=np.log(table.grad_norm))
    of_all = logs.groupby(["update", "seed"]).log.mean()
    last = logs.query("side == 'decoder' and layer == 6 and parameter == 'W2'").set_index(["update", "seed"]).log
    return np.exp(last[300] - last[0]), np.exp(of_all[300] - of_all[0])


def times_pre_ln(update: int) -> float:
    """By how many times Post-LN's gradient of the last W² is Pre-LN's at an update of fig3_warmup."""
    table = pd.read_csv(SMALL / "fig3_warmup/probes.csv").query(
        "side == 'decoder' and layer == 6 and parameter == 'W2'"
    )
    means = table[table["update"] == update].groupby("arm").grad_norm.mean()
    return means["post_ln"] / means["pre_ln"]


def tuned_by_depth(placement: str, warmup: str) -> list[float]:
    """The lowest mean nll over the rates of depth_by_rate, at 6-6, 12-12 and 36-36."""
    return [
        min(nlls("depth_by_rate", f"{placement}_{layers}_{warmup}_x{2**power}").mean() for power in range(5))
        for layers in (6, 12, 36)
    ]


STATED = [
    Stated(
        "depth_by_rate",
        "(nll without warm-up {:.2f}, {:.2f} and {:.2f})",
        lambda: tuned_by_depth("rezero", "none"),
    ),
    Stated(
        "depth_by_rate",
        "Pre-LN of 36-36 ({:.2f} with warm-up) and Admin ({:.2f})",
        lambda: [tuned_by_depth(placement, "full")[2] for placement in ("pre_ln", "admin")],
    ),
    Stated(
        "fig3_warmup",
        "falls to {:.2f} of what it was in Post-LN and to {:.2f} in Pre-LN, the geometric mean of all FFN matrices to"
        " {:.2f} and {:.2f}",
        lambda: [fall_of_gradients(arm)[which].mean() for which in (0, 1) for arm in ("post_ln", "pre_ln")],
    ),
    Stated(
        "fig3_warmup",
        "still has {:.1f} times the gradient of Pre-LN's (before it {:.1f} times)",
        lambda: [times_pre_ln(300), times_pre_ln(0)],
    ),
    Stated(
        "radam_parts",
        "ends as rectification does (nll {:.3f} and {:.3f})",
        lambda: [nlls("radam_parts", arm).mean() for arm in ("small_rate", "rectification")],
    ),
    Stated("map", "Post-LN runs end at {:.2f}, {:.2f} and {:.2f}", lambda: list(nlls("map", "post_ln_none_x4"))),
    Stated("map", "lie between {:.2f} and {:.2f}", lambda: extremes(nlls("warmup_by_rate", "post_ln_none_x4"))),
    Stated("map", "have {:.3f} with the 90% interval [{:.3f}, {:.3f}]", cost_of_pre_ln),
    Stated(
        "linear_probes",
        "seed 326 (BLEU {:.1f}, the others at most {:.1f})",
        lambda: sorted(runs("failure", "post_ln_none", "best_valid_bleu"))[:-3:-1],
    ),
    Stated(
        "sharpness",
        "BLEU of at most {:.1f}",
        lambda: [runs("sharpness", "post_ln_none", "best_valid_bleu").max()],
    ),
    Stated("sharpness", "in the mean {:.0f} to {:.0f} nats", lambda: extremes(mean_sharpness("none"))),
    Stated("sharpness", "with warm-up they have {:.0f} to {:.0f}", lambda: extremes(mean_sharpness("full"))),
    Stated(
        "sharpness",
        "single snapshots of up to {:,.0f} nats",
        lambda: [runs("sharpness", "post_ln_none", "max_sharpness").max()],
    ),
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
    Stated(
        "fig2b",
        "gets {:.1f} BLEU without warm-up and {:.1f} with it. At the higher it gets {:.1f} with it",
        lambda: [
            runs("fig2b", arm, "best_valid_bleu", MEDIUM).mean()
            for arm in ("no_warmup_low", "warmup_low", "warmup_high")
        ],
    ),
    Stated(
        "fig2b",
        "up to {:.1f}, and two {:.1f} or less",
        lambda: list(runs("fig2b", "no_warmup_high", "best_valid_bleu", MEDIUM).sort_values().iloc[[-1, 1]]),
    ),
    Stated(
        "fig2b",
        "warm-up it is {:.0f} to {:.0f} (fig2a)",
        lambda: extremes(runs("fig2a", "warmup_low", "best_valid_bleu", MEDIUM)),
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


EXPONENTS = (
    "are {} and {} with reordered norm, {} and {} with ResiDual, {} and {} with DeepNorm, {} and {} with HybridNorm,"
    " {} and {} with Sub-LN; with the other eight they differ by 0.1 or less."
)


def says(recipe: str, words: str) -> bool:
    """Whether a recipe says something, wherever its lines break."""
    return words in " ".join((ROOT / f"recipes/{recipe}.yaml").read_text(encoding="utf-8").split())


@pytest.mark.parametrize("stated", STATED, ids=lambda stated: f"{stated.recipe}: {stated.words}")
def test_numbers_that_a_recipe_states_are_those_of_the_tables(stated):
    words = stated.words.format(*stated.numbers())
    assert says(stated.recipe, words), words


def test_the_exponents_of_amplification():
    of = PublishedFolder(THEORY / "amplification")
    placements = {arm.partition("_")[2] for arm in of.arms if arm.startswith("random_")}
    found = {
        placement: [of.interval("exponent", f"{kind}_{placement}").mean for kind in ("random", "dependency")]
        for placement in placements
    }
    apart = ("reordered_norm", "residual", "deep_norm", "hybrid_norm", "sub_ln")
    numbers = [f"{exponent:.2f}".replace("-", "−") for placement in apart for exponent in found.pop(placement)]
    assert says("amplification", EXPONENTS.format(*numbers))
    assert len(found) == 8
    assert all(round(abs(random - shares), 2) <= 0.1 for random, shares in found.values())
    by_seed = pd.Series(of.values("exponent", "random_post_ln"))
    assert says("amplification", "exponent lies between {:.2f} and {:.2f} by seed".format(*extremes(by_seed)))


def test_the_exponent_of_pre_lns_shares_over_the_last_sublayers():
    shares = pd.read_csv(THEORY / "dependency/measurements.csv").query("arm == 'own_pre_ln' and on > 18")
    slopes = [np.polyfit(np.log(of_seed.on), np.log(of_seed.share), 1)[0] for _, of_seed in shares.groupby("seed")]
    words = f"Over the last 18 sublayers it is {np.mean(slopes):.1f}".replace("-", "−")
    assert says("dependency", words)


def test_what_is_said_of_runs_at_the_papers_size():
    nll, bleu = (runs("paper_size", "post_ln_short_low", column, PAPER) for column in ("last_valid_nll", "test_bleu"))
    assert says("paper_size", f"(nll {nll.min():.2f}, test BLEU {bleu[nll.idxmin()]:.1f})")
    words = "at an nll of {:.1f} to {:.1f} nats a token after 2,840 updates, with T_warmup 500 at {:.1f} to {:.1f}"
    both = [nlls("paper_size", arm, PAPER) for arm in ("post_ln", "post_ln_short_low")]
    assert says("paper_size_warmup", words.format(*extremes(both[0]), *extremes(both[1])))
    test = runs("paper_size_warmup", "full", "test_bleu", PAPER)
    for recipe in ("paper_size_warmup", "paper_size_placement"):
        assert says(recipe, "at a test BLEU of {:.1f} to {:.1f}".format(*extremes(test)))
    epochs = pd.read_csv(PAPER / "paper_size_placement/epochs.csv").query("arm == 'post_ln'")
    assert epochs.loc[epochs.groupby("seed").valid_nll.idxmin()].epoch.eq(1).all()
    first = epochs[epochs.epoch == 1].valid_nll.mean()
    assert says("paper_size_placement", f"has its lowest nll, {first:.2f}, after the first epoch")


def test_who_trains_after_a_large_first_change():
    assert says("first_updates", "no run of Post-LN trains, one of six of DeepNorm, and all of the others")
    folder = PublishedFolder(SMALL / "first_updates")
    expected = {"post_ln_none": "0 of 6", "deep_norm_none": "1 of 6"}
    assert {arm: folder.trained(arm) for arm in folder.arms} == dict.fromkeys(folder.arms, "6 of 6") | expected


def test_the_gains_of_newer_placements_and_who_trains():
    gains = PublishedFolder(THEORY / "amplification_newer")
    said = (
        "For random signs it is {:.0f} in reordered norm and {:.0f} in HybridNorm, {:.0f} in Post-LN, {:.0f} in Mix-LN,"
        " {:.0f} in Pre-LN, {:.0f} in LayerNorm Scaling and {:.0f} in KEEL"
    )
    named = ("reordered_norm", "hybrid_norm", "post_ln", "mix_ln", "pre_ln", "layer_norm_scaling", "keel")
    first = {one: gains.interval("first", f"random_{one}").mean for one in (*named, "branch_norm")}
    assert says("amplification_newer", said.format(*(first[one] for one in named)))
    line = PublishedFolder(SMALL / "map").sweep.nlls.line
    failing = {one for one in named if (nlls("map", f"{one}_none_x4") > line).any()}
    assert failing == {"hybrid_norm", "post_ln"}
    assert first["branch_norm"] == 0
    assert (nlls("map", "branch_norm_none_x4") > line).all()
    table = pd.read_csv(THEORY / "amplification_newer/measurements.csv").query("updates == 60").groupby("arm").value
    later = pd.read_csv(THEORY / "amplification_newer/measurements.csv").query("of == 'gradient' and updates >= 180")
    assert says("amplification_newer", "Post-LN and HybridNorm have the most from update 180 on")
    for _, at in later.groupby("updates"):
        least, *_, second, most = at.groupby("arm").value.mean().sort_values().index
        assert {second, most} == {"gradient_post_ln", "gradient_hybrid_norm"}
        assert least == "gradient_branch_norm"
    after = "Sixty updates later Post-LN's is {:.0f} and Pre-LN's {:.0f}"
    assert says("amplification_newer", after.format(table.mean()["random_post_ln"], table.mean()["random_pre_ln"]))


def test_that_rezero_alone_learns_no_less_the_deeper_it_is():
    assert says("depth_by_rate", "It alone learns no less the deeper it is")
    falling = {
        (placement, warmup)
        for placement in ("post_ln", "pre_ln", "admin", "deep_norm", "rezero")
        for warmup in ("none", "full")
        if (nll := tuned_by_depth(placement, warmup)) == sorted(nll, reverse=True)
    }
    assert falling == {("rezero", "none"), ("rezero", "full")}


def test_what_depth_by_rate_says_of_recipe_depth():
    runs = pd.read_csv(SMALL / "depth/runs.csv")
    good = runs[runs.last_valid_nll < 1.3].set_index("identity")
    nll = pd.read_csv(SMALL / "depth/epochs.csv").pivot(index="identity", columns="epoch", values="valid_nll")
    fell = (nll.loc[good.index, 4] < 2 / 3 * nll.loc[good.index, 3]).sum()
    assert says("depth_by_rate", f"in {fell} of the {len(good)} runs of recipe depth that end below 1.3 nats")
    half = runs.groupby("arm").best_valid_bleu.mean().max() / 2
    assert says("depth_by_rate", f"{(good.best_valid_bleu < half).sum()} of those {len(good)} runs have under half")
    admin = runs[runs.arm == "d36_full_admin"]
    assert says(
        "depth_by_rate", "Of the six of Admin of 36-36 with warm-up five have, and five, not the same, are below 1.3"
    )
    assert (admin.best_valid_bleu < half).sum() == 5
    assert (admin.last_valid_nll < 1.3).sum() == 5
    assert says("depth_by_rate", f"the mean of all is {admin.last_valid_nll.mean():.2f}")


@pytest.mark.parametrize(
    ("recipe", "words", "folder", "arm", "trained"),
    [
        ("interventions", "Two of the six runs without warm-up train", "interventions", "none", "2 of 6"),
        ("interventions", "with normalised gradients (here five)", "interventions", "normalised_gradients", "5 of 6"),
        ("interventions", "(here two and three)", "interventions", "beta2_high", "2 of 6"),
        ("interventions", "(here two and three)", "interventions", "gathered_moments", "3 of 6"),
        ("interventions", "there one of twelve trains without it", "adam_2k", "none", "1 of 12"),
        ("interventions", "with that one alone eight of twelve train", "adam_2k", "adam_2k", "8 of 12"),
        ("interventions_real_text", "one of the same twelve without anything", "adam_2k", "none", "1 of 12"),
        ("adam_2k", "one of the twelve runs without warm-up trains", "adam_2k", "none", "1 of 12"),
        ("depth", "one of the six runs without warm-up fails", "depth", "d6_none_post_ln", "5 of 6"),
        ("stall", "One of the twelve runs without warm-up trains", "stall", "none", "1 of 12"),
        ("stall", "with the next six, five trained, and two without it", "interventions", "beta2_low", "5 of 6"),
        ("adam_2k", "With both moments gathered two of twelve train.", "adam_2k", "gathered_moments", "2 of 12"),
        ("radam_parts", "With β2 = 0.98 it trains four of nine", "radam_parts", "short_rectification", "4 of 9"),
        ("radam_parts", "and two of nine where", "radam_parts", "short_rectification_decay", "2 of 9"),
        ("radam_parts", "the constant rate of small_rate trains all nine", "radam_parts", "small_rate", "9 of 9"),
        ("layers_held_back", "two runs of six train with the last", "layers_held_back", "last_3", "2 of 6"),
        ("layers_held_back", "with the last and none with the first", "layers_held_back", "first_3", "0 of 6"),
        ("layers_held_back", "none with two frozen at either end", "layers_held_back", "last_2_frozen", "0 of 6"),
        ("layers_held_back", "none with two frozen at either end", "layers_held_back", "first_2_frozen", "0 of 6"),
        (
            "linear_probes",
            "One of the twelve runs of Post-LN without warm-up trained",
            "failure",
            "post_ln_none",
            "1 of 12",
        ),
        (
            "sharpness",
            "None of the twelve runs of Post-LN without warm-up trained",
            "sharpness",
            "post_ln_none",
            "0 of 12",
        ),
    ],
)
def test_how_many_runs_a_recipe_says_train(recipe, words, folder, arm, trained):
    assert says(recipe, words)
    assert PublishedFolder(SMALL / folder).trained(arm) == trained


def test_how_many_runs_of_sgd_a_recipe_says_train_on_real_text():
    assert says("fig2b", "without it four of six runs have more than half of that")
    assert PublishedFolder(MEDIUM / "fig2b").trained("no_warmup_high") == "4 of 6"


def test_how_often_the_most_frequent_answer_is_right():
    table = pd.read_csv(THEORY / "linear_probes/measurements.csv")
    shares = table.groupby(["asked", "side"]).most_frequent.unique()
    assert {key: [round(one, 2) for one in found] for key, found in shares.items()} == {
        ("position", "encoder"): [0.12],
        ("position", "decoder"): [0.12],
        ("word_class", "encoder"): [0.21],
        ("word_class", "decoder"): [0.23],
    }
    assert says(
        "linear_probes", "is right for 0.12 of the words, and the most frequent class for 0.21 of the source's and"
    )
    assert says("linear_probes", "source's and 0.23 of the target's")


def test_when_the_greatest_logits_of_failing_runs_come():
    assert says("failure", "come late, from update 362 on in all twelve, also in the eleven that never train")
    of_arm = pd.read_csv(SMALL / "failure/snapshots.csv").query("arm == 'post_ln_none'")
    greatest = of_arm.loc[of_arm.groupby("seed").attention_logit.idxmax()]
    assert len(greatest) == 12
    assert greatest["update"].min() == 362
    assert PublishedFolder(SMALL / "failure").trained("post_ln_none") == "1 of 12"


def test_that_no_intervention_trains_on_real_text():
    assert says("interventions", "on Multi30k none of five with it")
    folder = PublishedFolder(MEDIUM / "interventions_real_text")
    changed = [arm for arm in folder.arms if arm not in ("warmup", "pre_ln")]
    assert {folder.trained(arm) for arm in changed} == {"0 of 5"}
