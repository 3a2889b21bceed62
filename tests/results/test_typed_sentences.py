"""Sentences of pages and recipes that state numbers by hand: each is there, and what it states is so."""

import math
import re

import pandas as pd
import pytest
from helpers import ROOT
from scipy.stats import binomtest, gmean

from lnexp.configuration import compose
from lnexp.results.judging.verdict_file import read_verdicts
from lnexp.results.pages.published_folder import PublishedFolder

RESULTS = ROOT / "results"


def sentence(file: str, words: str) -> bool:
    """Whether a file says something, wherever its lines break."""
    return words in " ".join((ROOT / file).read_text(encoding="utf-8").split())


def updates_of(place: str) -> int:
    """The updates of the longest run of a folder of results."""
    return int(pd.read_csv(RESULTS / place / "epochs.csv")["update"].max())


@pytest.fixture(scope="module", params=["small", "medium"])
def profile(request):
    cfg = compose([f"profile={request.param}"])
    place = {"small": "small/toy/fig2a", "medium": "medium/multi30k/fig2a"}[request.param]
    return request.param, cfg.scale, updates_of(place)


def test_the_share_of_warmup_at_small():
    assert sentence("docs/templates/results.md.jinja", "full warm-up takes 300 of 480 updates")
    assert compose(["profile=small"]).scale.warmup_updates.full == 300
    assert updates_of("small/toy/fig2a") == 480


def test_how_much_less_rate_the_coupled_schedule_has_without_warmup(profile):
    assert sentence("recipes/fig2a_coupled.yaml", "a seventh (profile small) or a twentieth (medium) of the rate")
    name, scale, updates = profile
    full = scale.warmup_updates.full
    without = sum(1 / math.sqrt(update) for update in range(1, updates + 1))
    with_warmup = sum(min(update / full, math.sqrt(full / update)) for update in range(1, updates + 1))
    assert round(with_warmup / without) == {"small": 7, "medium": 20}[name]


@pytest.mark.parametrize(("update", "factor"), [(480, 0.47), (2000, 0.83)])
def test_how_far_radam_has_rectified(update, factor):
    """Liu et al. 2019, section 4.2 and Algorithm 2, with β2 = 0.999."""
    said = " ".join((ROOT / "recipes" / "radam.yaml").read_text(encoding="utf-8").split())
    assert re.search(rf"factor is {factor}\b", said)
    beta = 0.999
    longest = 2 / (1 - beta) - 1
    length = longest - 2 * update * beta**update / (1 - beta**update)
    rectified = (length - 4) * (length - 2) * longest / ((longest - 4) * (longest - 2) * length)
    assert math.sqrt(rectified) == pytest.approx(factor, abs=0.005)


def test_at_smaller_rates_post_ln_trains_without_warmup_but_worse(profile):
    said = "at a constant fifth of the lower rate (small_fixed_lr, at both profiles), and on Multi30k at half of it"
    assert sentence("recipes/fig2a.yaml", said)
    name, scale, _ = profile
    assert scale.fixed_lr == pytest.approx(scale.lr_max.low / 5)
    fixed = PublishedFolder(RESULTS / {"small": "small/toy", "medium": "medium/multi30k"}[name] / "small_fixed_lr")
    assert fixed.claim("fixed-lr-trains").verdict == "reproduced"
    assert max(fixed.values("best_bleu", "fixed")) < min(fixed.values("best_bleu", "warmup"))


def test_at_half_the_rate_post_ln_ends_a_little_worse_without_warmup_on_the_embedded_corpus():
    assert sentence("recipes/fig2a.yaml", "a little worse (0.04 nats and 3 BLEU of 99; warmup_by_rate, 600 updates)")
    by_rate = PublishedFolder(RESULTS / "small/toy/warmup_by_rate")
    without, full = ("post_ln_none_x2", "post_ln_long_x2")
    lost = by_rate.interval("last_nll", without).mean - by_rate.interval("last_nll", full).mean
    best = [by_rate.interval("best_bleu", arm).mean for arm in (without, full)]
    assert (round(lost, 2), round(best[1] - best[0]), round(best[1])) == (0.04, 3, 99)


def test_gains_before_training_do_not_order_who_trains():
    said = "DeepNorm has less gain than Pre-LN and fails more often, Peri-LN more than Post-LN, and trains"
    assert sentence("docs/templates/results/why_answer.md.jinja", said)
    gains = PublishedFolder(RESULTS / "theory/toy/amplification_in_training")
    first = {
        placement: gains.interval("first", f"random_none_{placement}").mean
        for placement in ("post_ln", "pre_ln", "deep_norm", "peri_ln")
    }
    assert first["deep_norm"] < first["pre_ln"] < first["post_ln"] < first["peri_ln"]
    runs = PublishedFolder(RESULTS / "small/toy/placements")
    trained = {placement: runs.trained(f"low_none_{placement}") for placement in first}
    assert trained == {"post_ln": "1 of 6", "pre_ln": "6 of 6", "deep_norm": "4 of 6", "peri_ln": "6 of 6"}


def test_at_half_the_rate_all_runs_of_post_ln_train_on_multi30k_but_worse():
    tuned = PublishedFolder(RESULTS / "medium/multi30k/tuned_rate")
    assert tuned.trained("post_ln_none_x1") == "5 of 5"
    assert 2 * float(tuned.setting("post_ln_none_x1", "lr_max")) == compose(["profile=medium"]).scale.lr_max.low
    assert max(tuned.values("best_bleu", "post_ln_none_x1")) < min(tuned.values("best_bleu", "post_ln_full_x1"))


def test_in_bleu_pre_ln_loses_less_than_five_percent_without_warmup():
    assert sentence("recipes/tuned_rate.yaml", "in best BLEU Pre-LN without warm-up is within 5% of Pre-LN with it")
    tuned = PublishedFolder(RESULTS / "medium/multi30k/tuned_rate")
    assert (
        tuned.interval("best_bleu", "pre_ln_none_x2").mean > 0.95 * tuned.interval("best_bleu", "pre_ln_full_x4").mean
    )


def test_where_no_run_trains_without_a_change_radam_trains_all_and_one_other_change_lets_one_train():
    said = "three layers of each stack or more, RAdam with β2 = 0.999 is the only change of the updates that trains all"
    assert sentence("docs/templates/results/why_answer.md.jinja", f"{said} runs:")
    assert sentence("docs/templates/results/why_answer.md.jinja", "One other change of the updates trains a run:")
    assert PublishedFolder(RESULTS / "medium/multi30k/radam").trained("post_ln_radam_999") == "6 of 6"
    assert PublishedFolder(RESULTS / "medium/multi30k/radam").trained("post_ln_radam") == "0 of 6"
    trained = set()
    for place in ("small/toy/interventions_high_rate", "medium/multi30k/interventions_real_text"):
        of = PublishedFolder(RESULTS / place)
        changed = [arm for arm in of.arms if arm not in ("none", "warmup", "pre_ln", "normalised_sgd_warmup")]
        assert of.trained("none").startswith("0 of")
        trained |= {arm for arm in changed if not of.trained(arm).startswith("0 of")}
    assert trained == {"last_layers_frozen"}
    of = PublishedFolder(RESULTS / "medium/multi30k/adam_2k_real_text")
    assert all(of.trained(arm).startswith("0 of") for arm in of.arms if arm != "warmup")


def test_of_radams_parts_the_rectification_is_what_is_enough():
    said = "nor does linear decay; with the rectification added to that memory all runs train, and with a constant rate"
    assert sentence("docs/theory.md", said)
    of = PublishedFolder(RESULTS / "small/toy/radam_parts")
    assert {of.trained(arm) for arm in ("rectification", "rectification_decay", "small_rate")} == {"9 of 9"}
    assert {of.trained(arm) for arm in ("adam", "memory", "decay", "memory_decay")} == {"0 of 9"}


def test_five_layers_held_back_are_enough_and_three_are_not():
    said = "the last five of the six of each stack are enough, and so are the first five; three are not for most runs"
    assert sentence("docs/theory.md", said)
    assert sentence("docs/templates/results/why_answer.md.jinja", "five layers at either end are enough")
    of = PublishedFolder(RESULTS / "small/toy/layers_held_back")
    enough, few = ("all_layers", "half_as_long", "last_5", "first_5"), ("last_3", "first_3")
    assert {of.trained(arm) for arm in enough} == {"6 of 6"}
    assert max(of.successes(arm)[0] for arm in few) < 3
    assert {of.trained(arm) for arm in ("none", "second_moment")} == {"0 of 6"}


def test_post_ln_with_warmup_meets_the_test_of_the_early_loss():
    said = "on Multi30k Post-LN with warm-up meets it as well, at three fifths of its own run"
    assert sentence("recipes/fig4ab.yaml", said)
    of = PublishedFolder(RESULTS / "medium/multi30k/fig4ab")
    early, last = (of.values(f"{when}_loss", "post_ln_adam_warmup") for when in ("early", "last"))
    assert all(one < 1.1 * other for one, other in zip(early, last, strict=True))


def test_failed_runs_have_a_gap_between_training_and_validation_that_others_lack():
    epochs = pd.read_csv(RESULTS / "medium/multi30k/interventions_real_text/epochs.csv")
    last = epochs[epochs["epoch"] == epochs["epoch"].max()].groupby("arm")[["train_loss", "valid_loss"]].mean()
    said = "end at a training loss of {:.2f} and a validation loss of {:.2f} (label-smoothed; training has dropout)"
    assert sentence("recipes/interventions_real_text.yaml", said.format(*last.loc["none"]))
    between = last["valid_loss"] - last["train_loss"]
    assert between["none"] > 1
    assert (between[["warmup", "pre_ln"]] < 0.2).all()


def test_the_sentences_of_our_own_are_of_the_best_run():
    """The one with the least validation nll of all that are published on Multi30k."""
    tables = [pd.read_csv(path) for path in sorted((RESULTS / "medium/multi30k").glob("*/epochs.csv"))]
    epochs = pd.concat(tables).sort_values("valid_nll")
    best = epochs.iloc[0]
    said = (RESULTS / "medium/multi30k/translations.md").read_text(encoding="utf-8")
    assert re.search(rf"Run `[\w.-]+-{best['identity']}`, the checkpoint of epoch {best['epoch']},", said)


def test_which_reading_comes_near_the_papers_share():
    said = "On Multi30k the coupled reading, which is fairseq's schedule, comes near the paper's share, and on the"
    assert sentence("docs/templates/results/multi30k.md.jinja", said + " embedded corpus neither does.")
    shares = {
        (place, recipe, rate): (
            PublishedFolder(RESULTS / place / recipe).interval("best_bleu", f"no_warmup_{rate}").mean
            / PublishedFolder(RESULTS / place / recipe).interval("best_bleu", f"warmup_{rate}").mean
        )
        for place in ("medium/multi30k", "small/toy")
        for recipe in ("fig2a", "fig2a_coupled")
        for rate in ("low", "high")
    }
    near = {key for key, share in shares.items() if abs(share - 8.45 / 34) < 0.1}
    assert near == {("medium/multi30k", "fig2a_coupled", rate) for rate in ("low", "high")}


def test_at_one_rate_more_runs_of_pre_ln_reach_the_target_and_at_three_times_it_fewer():
    said = "At η more runs of Pre-LN than of Post-LN reach the target, and at 3η, which the paper compares, fewer"
    assert sentence("docs/templates/results/bert.md.jinja", said)
    of = PublishedFolder(RESULTS / "small/bert_toy/fig5")
    reached = {arm: len(of.values("updates_to_nll", arm)) for arm in of.arms}
    assert reached["pre_ln_low"] > reached["post_ln_warmup"]
    assert reached["pre_ln_high"] < reached["post_ln_warmup"]


def test_pre_ln_is_ahead_in_fine_tuning_without_any_pre_training():
    said = "(0.646 against 0.526), and at 3η all of pre-training adds little (0.658). So its lead after a third of it "
    assert sentence("recipes/fig5_finetune.yaml", said + "(0.655 against 0.584)")
    of = PublishedFolder(RESULTS / "small/bert_toy/fig5_finetune")
    arms = ("pre_ln_scratch", "post_ln_scratch", "pre_ln_high_whole", "pre_ln_high_third", "post_ln_warmup_third")
    assert [round(of.interval("last_accuracy", arm).mean, 3) for arm in arms] == [0.646, 0.526, 0.658, 0.655, 0.584]


def test_how_post_ln_stalls_without_warmup():
    at = PublishedFolder(RESULTS / "small/toy/failure").along.at
    template = "docs/templates/results/why_answer.md.jinja"
    assert sentence(template, "does not diverge: it stalls")
    assert abs(at(8, "train_loss", "post_ln_none") - at(108, "train_loss", "post_ln_none")) < 0.5
    assert sentence(template, "different positions are nearly alike")
    assert at(45, "hidden_cosine", "post_ln_none") > 0.9 > at(45, "hidden_cosine", "post_ln_full")
    assert sentence(template, "comes near such a state, too")
    assert sentence(template, "and soon leaves it")
    assert at(10, "hidden_cosine", "pre_ln_none") > 0.8 > 0.5 > at(54, "hidden_cosine", "pre_ln_none")
    assert sentence(template, "Post-LN leaves it around update 90")
    assert at(64, "hidden_cosine", "post_ln_none") > 0.9 > 0.75 > at(91, "hidden_cosine", "post_ln_none")


def early_change_and_size(arm: str) -> tuple[pd.Series, pd.Series, pd.Series]:
    """Of updates 1 to 32, by seed: the change of the encoder's last layer, that change by the squared size of an update
    (geometric means), and the size at update 32 (the mean over the encoder's layers).
    """
    table = pd.read_csv(RESULTS / "small/toy/first_updates/snapshots.csv")
    encoder = table[(table.arm == arm) & (table.side == "encoder") & (table["update"] <= 32)]
    change = encoder[encoder.layer == encoder.layer.max()].set_index(["seed", "update"]).state_change
    size = encoder.groupby(["seed", "update"]).update_rms.mean()
    by_seed = [one.groupby("seed").apply(gmean) for one in (change, change / size**2)]
    return by_seed[0], by_seed[1], size.xs(32, level="update")


def test_early_changes_are_small_where_updates_are():
    said = "it changes less in Post-LN than in Pre-LN, but Post-LN's updates also become smaller than Pre-LN's"
    assert sentence("docs/templates/results/why_answer.md.jinja", said)
    (post, post_by_size, post_size), (pre, pre_by_size, pre_size) = map(
        early_change_and_size, ("post_ln_none", "pre_ln_none")
    )
    assert post.mean() < pre.mean()
    assert post_size.max() < pre_size.min()
    numbers = "by update 32 they are {:.2f} of the rate in Post-LN's encoder and {:.2f} in Pre-LN's"
    assert sentence("recipes/first_updates.yaml", numbers.format(post_size.mean(), pre_size.mean()))
    numbers = "the encoder's early changes are {:.3f} in Post-LN and {:.3f} in Pre-LN, larger in Post-LN with each of"
    assert sentence("recipes/first_updates.yaml", numbers.format(post_by_size.mean(), pre_by_size.mean()))
    (_, admin, _) = early_change_and_size("admin_none")
    assert sentence("recipes/first_updates.yaml", f"but Admin, which trains, has {admin.mean():.3f}")
    assert len(post_by_size) == 6
    assert (post_by_size > pre_by_size).all()


def test_where_runs_train_without_any_change():
    said = (
        "some runs train without any change at the lower rate, so that a change with which all train says little there"
    )
    assert sentence("docs/templates/results/why_table.md.jinja", said)
    none = {"interventions": "none", "adam_2k": "none", "small_fixed_lr": "no_warmup", "placements": "low_none_post_ln"}
    trained = {name: PublishedFolder(RESULTS / "small/toy" / name).successes(arm) for name, arm in none.items()}
    assert all(0 < succeed < runs for succeed, runs in trained.values())


def test_normalised_sgd_fails_at_twice_the_rate_with_warmup_too():
    of = PublishedFolder(RESULTS / "small/toy/interventions_high_rate")
    assert of.trained("normalised_sgd_warmup").startswith("0 of")
    nll = of.mean("last_nll", "normalised_sgd_warmup", 2)
    assert sentence("recipes/interventions_high_rate.yaml", f"fails at this rate with warm-up, too (nll {nll})")


def test_what_the_marks_of_claims_leave_out():
    """Marks are known to favour no claim: they take more of the reproduced ones out of tallies."""
    assert sentence("docs/recipes-and-claims.md", "most of those left out are reproduced")
    assert sentence("docs/recipes-and-claims.md", "no marked one had another verdict than the one that counts")
    left_out = []
    for path in RESULTS.glob("*/*/*/verdicts.json"):
        by_id = {claim.id: claim for claim in read_verdicts(path).claims}
        left_out += [claim.verdict for claim in by_id.values() if claim.left_out == "implied by another claim"]
        for claim in by_id.values():
            if claim.left_out == "restates another claim":
                assert claim.verdict == by_id[claim.restates].verdict, f"{path}: {claim.id}"
    assert left_out.count("reproduced") > len(left_out) / 2


def test_how_far_post_ln_is_after_three_fifths_of_its_run():
    said = "four of the six runs of Post-LN with warm-up meet it as well, at three fifths of their own run"
    assert sentence("recipes/fig4ab.yaml", said)
    epochs = pd.read_csv(RESULTS / "medium/multi30k/fig4ab/epochs.csv").query("arm == 'post_ln_adam_warmup'")
    early, last = (epochs[epochs.epoch == epoch].set_index("seed").valid_bleu for epoch in (5, 8))
    assert (early.count(), (early > 0.9 * last).sum()) == (6, 4)


def test_how_many_runs_a_page_of_the_docs_says_train():
    said = "eight of twelve runs train with the first and all twelve with the second, one of twelve without any"
    assert sentence("docs/theory.md", f"{said} intervention, and two with both moments gathered")
    folder = PublishedFolder(RESULTS / "small/toy/adam_2k")
    trained = [folder.trained(arm) for arm in ("adam_2k", "adam_2k_ramp", "none", "gathered_moments")]
    assert trained == ["8 of 12", "12 of 12", "1 of 12", "2 of 12"]


def test_what_twelve_seeds_decide():
    """Of the paper's BERT, and with every other claim in the family of Holm's correction."""
    assert sentence("docs/recipes-and-claims.md", "a success rate where two of them disagree, and not where three do")
    assert binomtest(10, 12).pvalue < 0.05 < binomtest(9, 12).pvalue
    assert "may survive Holm's correction over the claims on the paper's" in (ROOT / "recipes/fig5.yaml").read_text()
    results = (ROOT / "docs/results.md").read_text(encoding="utf-8")
    family = int(re.search(r"On the paper's experiments: (\d+) claims", results)[1])
    assert binomtest(12, 12).pvalue < 0.05 / family < binomtest(10, 10).pvalue
