"""Sentences of pages and recipes that state numbers by hand: each is there, and what it states is so."""

import math
import re

import pandas as pd
import pytest
from helpers import ROOT

from lnexp.configuration import compose
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
    """Liu et al. 2019, eq. 5, with β2 = 0.999."""
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


def test_where_no_run_trains_without_a_change_hardly_any_change_lets_one_train():
    said = "hardly any change of the updates lets a run train, the rate apart: freezing the last two layers of each"
    assert sentence("docs/templates/results/why_answer.md.jinja", said)
    trained = set()
    for place in ("small/toy/interventions_high_rate", "medium/multi30k/interventions_real_text"):
        of = PublishedFolder(RESULTS / place)
        changed = [arm for arm in of.arms if arm not in ("none", "warmup", "pre_ln", "normalised_sgd_warmup")]
        assert of.trained("none").startswith("0 of")
        trained |= {arm for arm in changed if not of.trained(arm).startswith("0 of")}
    assert trained == {"last_layers_frozen"}
    of = PublishedFolder(RESULTS / "medium/multi30k/adam_2k_real_text")
    assert all(of.trained(arm).startswith("0 of") for arm in of.arms if arm != "warmup")


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
