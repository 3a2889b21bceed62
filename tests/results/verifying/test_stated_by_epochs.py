"""A run that its patience ended is whole where its losses say so, and no other."""

import math
from dataclasses import replace

import pytest
from helpers import ROOT

from lnexp.recipes.load import load_recipe
from lnexp.results.evidence.published_evidence import PublishedRun, published_evidence
from lnexp.results.verifying.stated_by_epochs import denied_by_epochs


@pytest.fixture(scope="module")
def run() -> PublishedRun:
    """A run of eight epochs."""
    found = published_evidence(load_recipe("fig2a"), ROOT / "results/small/toy/fig2a", papers=False)[0]
    assert isinstance(found, PublishedRun)
    assert denied_by_epochs(found) == []
    return found


def of_losses(run: PublishedRun, losses: list[float], *options: str) -> PublishedRun:
    """Return a run with one epoch for each validation loss, in bits, and a command with further options."""
    epochs = [record | {"valid_loss": loss * math.log(2)} for record, loss in zip(run.epochs, losses, strict=False)]
    return replace(run, epochs=epochs, command=" ".join([run.command, *options]))


@pytest.mark.parametrize(
    ("losses", "patience", "whole"),
    [
        ([5, 4, 3, 3.5, 3.0004], 2, True),
        ([5, 4, 3, 3.5, 2.9], 2, False),
        ([5, 4, 3, 3.5], 2, False),
        ([5, 4, 3, 3.5, 3.5, 3.5], 2, False),
        ([5, 4, 3, 3.5], 1, True),
        ([5, 4, 3, 2, 1, 0.9, 0.8, 0.7], 1, True),
        ([5, 4, 3, 3.5, 3.5, 2, 1, 0.9], 2, False),
        ([5, 4, 3, 3.5, 3.5], -1, False),
    ],
)
def test_patience_ends_a_run_where_the_losses_say(run, losses, patience, whole):
    ended = of_losses(run, losses, f"fairseq.checkpoint.patience={patience}")
    assert ("status" not in denied_by_epochs(ended)) == whole


def test_patience_may_watch_the_nll_and_nothing_that_epochs_do_not_have(run):
    patient = "fairseq.checkpoint.patience=1", "fairseq.checkpoint.best_checkpoint_metric=METRIC"
    ended = of_losses(run, [5, 6], *patient)
    ended = replace(ended, epochs=[record | {"valid_nll": 9 - record["epoch"]} for record in ended.epochs])
    for metric, whole in (("loss", True), ("ppl", False), ("nll_loss", False)):
        of_metric = replace(ended, command=ended.command.replace("METRIC", metric))
        assert ("status" not in denied_by_epochs(of_metric)) == whole


def test_without_patience_a_shorter_run_is_not_whole(run):
    assert "status" in denied_by_epochs(of_losses(run, [5, 4, 4]))
