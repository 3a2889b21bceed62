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


def test_the_small_constant_rate_trains_post_ln_at_small():
    assert sentence("recipes/fig2a.yaml", "without warm-up at a constant fifth of the lower rate (small_fixed_lr)")
    scale = compose(["profile=small"]).scale
    assert scale.fixed_lr == pytest.approx(scale.lr_max.low / 5)
    assert PublishedFolder(RESULTS / "small/toy/small_fixed_lr").claim("fixed-lr-trains").verdict == "reproduced"


def test_the_sentences_of_our_own_are_of_the_best_run():
    """The one with the least validation nll of all that are published on Multi30k."""
    tables = [pd.read_csv(path) for path in sorted((RESULTS / "medium/multi30k").glob("*/epochs.csv"))]
    epochs = pd.concat(tables).sort_values("valid_nll")
    best = epochs.iloc[0]
    said = (RESULTS / "medium/multi30k/translations.md").read_text(encoding="utf-8")
    assert re.search(rf"Run `[\w.-]+-{best['identity']}`, the checkpoint of epoch {best['epoch']},", said)
