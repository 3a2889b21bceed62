"""Patience counts validations as fairseq does."""

import math
from types import SimpleNamespace

import pytest
from fairseq_cli.train import should_stop_early
from hypothesis import given, settings
from hypothesis import strategies as st

from lnexp.runs.patience import waits, watched


@settings(deadline=None)
@given(losses=st.lists(st.integers(1, 6), min_size=1, max_size=12), patience=st.integers(1, 4))
def test_it_ends_where_fairseq_ends(losses, patience):
    vars(should_stop_early).clear()
    cfg = SimpleNamespace(checkpoint=SimpleNamespace(patience=patience, maximize_best_checkpoint_metric=False))
    stops = [should_stop_early(cfg, loss) for loss in losses]
    vars(should_stop_early).clear()
    assert [wait >= patience for wait in waits(losses)] == stops


@pytest.mark.parametrize(("metric", "name"), [("loss", "valid_loss"), ("nll_loss", "valid_nll")])
def test_losses_are_compared_in_bits_with_three_decimals(metric, name):
    epochs = [{name: loss * math.log(2)} for loss in (2.5, 2.4996, 2.4994)]
    assert watched(epochs, metric) == [2.5, 2.5, 2.499]
