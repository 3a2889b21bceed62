"""What becomes of the members of an array when an error ends its training."""

import pytest
from helpers import TINY

from lnexp.configuration import compose
from lnexp.training import run as training_run


def test_a_member_that_is_finished_stays_so_when_a_later_one_cannot_be(monkeypatch, where):
    def train(members, *_):
        members[0].folder.set_status("finished", "", 7)
        raise OSError("no space left on device")

    monkeypatch.setattr(training_run, "_train_claimed", train)
    cfgs = [compose([*TINY, *where, f"lr_max={rate}"]) for rate in (1, 2)]
    outcomes = training_run.train_array(cfgs)
    assert [type(outcome) for outcome in outcomes] == [OSError, OSError]
    states = [training_run.RunFolder.of(cfg).status["state"] for cfg in cfgs]
    assert states == ["finished", "failed"]


@pytest.mark.slow
def test_a_line_that_nobody_reads_fails_no_run(monkeypatch, where):
    def closed(*_):
        raise BrokenPipeError

    monkeypatch.setattr(training_run, "announce_end", closed)
    folder = training_run.train_run(compose([*TINY, *where, "max_epoch=1"]))
    assert folder.status["state"] == "finished"
