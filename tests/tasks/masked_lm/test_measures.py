"""``updates_to_nll``: the updates that a run takes to an nll."""

from types import SimpleNamespace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from omegaconf import OmegaConf

from lnexp.paths import ROOT
from lnexp.results.pages.published_folder import PublishedFolder
from lnexp.tasks.masked_lm.measures import updates_to_nll


def run(nlls, target=2.0, diverged=False, max_epoch=4):
    epochs = [{"epoch": n, "update": 10 * n, "valid_nll": nll} for n, nll in enumerate(nlls, start=1)]
    cfg = OmegaConf.create({"max_epoch": max_epoch, "evaluation": {"target_nll": target}})
    return SimpleNamespace(cfg=cfg, epochs=epochs, diverged=diverged)


@pytest.mark.parametrize(
    ("nlls", "updates"),
    [
        ([3.0, 2.0, 1.0], 20),
        ([3.0, 1.0], 15),
        ([1.5, 1.0], 10),
        ([None, 1.0], 20),
        ([3.0, 2.5, 2.2, 2.1], None),
        ([3.0, 1.0, 4.0], 15),
    ],
)
def test_the_target_is_reached_between_epochs(nlls, updates):
    assert updates_to_nll(run(nlls)) == updates


def test_how_many_updates_a_run_would_take_that_never_reaches_it_is_not_known():
    assert updates_to_nll(run([3.0, 2.5], diverged=True)) is None
    assert updates_to_nll(run([3.0, 1.0], diverged=True)) == 15


def test_a_published_run_has_its_target_too():
    folder = PublishedFolder(ROOT / "results/small/bert_toy/fig5")
    reached = folder.values("updates_to_nll", "post_ln_warmup")
    assert len(reached) == 10, "of twelve"
    assert all(0 < updates <= 372 for updates in reached)


def test_without_a_target_or_an_epoch_there_is_no_answer():
    assert updates_to_nll(run([3.0], target=None)) is None
    assert updates_to_nll(run([])) is None


@settings(max_examples=60, derandomize=True)
@given(st.lists(st.floats(0.1, 9), min_size=4, max_size=4), st.floats(0.1, 9), st.floats(0, 3))
def test_a_harder_target_takes_no_fewer_updates(nlls, target, harder):
    easy, hard = updates_to_nll(run(nlls, target)), updates_to_nll(run(nlls, max(target - harder, 0.01)))
    assert hard is None or easy <= hard + 1e-9
    assert easy is None or 10 <= easy <= 40
