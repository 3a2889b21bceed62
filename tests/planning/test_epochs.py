"""How many updates and epochs a run has."""

from types import SimpleNamespace

import pytest

from lnexp.configuration import compose
from lnexp.planning.epochs import extent


@pytest.mark.parametrize(
    ("batches", "options", "expected"),
    [
        (7, ["update_freq=2"], (4, 12, 3)),
        (7, ["update_freq=2", "max_update=9"], (4, 9, 3)),
        (7, ["update_freq=2", "+fairseq.optimization.skip_remainder_batch=true"], (3, 9, 3)),
        (8, ["update_freq=2", "+fairseq.optimization.skip_remainder_batch=true"], (3, 9, 3)),
    ],
)
def test_an_epoch_has_the_updates_that_training_makes(batches, options, expected):
    """A remainder is left out as in lnexp/training/loop.py: the last batch, and an update that is not full."""
    cfg = compose(["max_epoch=3", *options])
    assert extent(cfg, SimpleNamespace(batches=batches)) == expected
