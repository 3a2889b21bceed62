"""What becomes of the members of an array when an error ends its training."""

import pytest
from helpers import TINY, make_whole
from tqdm import tqdm

from lnexp.configuration import compose
from lnexp.errors import UserError
from lnexp.runs import own_files
from lnexp.runs.checksum import write_checksum
from lnexp.runs.code import digests
from lnexp.runs.environment import environment
from lnexp.runs.folder import RunFolder
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


def begun(cfg) -> RunFolder:
    """A run of today's code with a checkpoint."""
    folder = RunFolder.of(cfg)
    folder.checkpoints.mkdir(parents=True)
    folder.write_config(cfg)
    folder.write_environment(environment("cpu", {}) | {"code": digests(cfg)})
    make_whole(folder.saved.of_epoch(1))
    write_checksum(folder.saved.of_epoch(1))
    losses = {"valid_loss": 2.0, "valid_nll": 2.0, "valid_bleu": 1.0}
    folder.append({"kind": "epoch", "epoch": 1, "update": 4, **losses, "lr": 0.1, "seconds": 1.0})
    return folder


@pytest.mark.parametrize(
    ("before", "now", "named"),
    [([], ["probes.every=5"], "probes"), (["probes.every=5", "diagnostics.at=log"], [], "probes and diagnostics")],
)
def test_a_run_is_not_resumed_with_other_measurements(monkeypatch, where, before, now, named):
    """The first probe would not be from before training, and a greatest logit that of a part of it."""
    monkeypatch.setattr("lnexp.training.claim.on_other_data", lambda *_: "")
    folder = begun(compose([*TINY, *where, *before]))
    words = rf"was trained so far with other {named}; force=true trains it afresh"
    with pytest.raises(UserError, match=words):
        training_run.train_run(compose([*TINY, *where, *now]))
    assert folder.saved.of_epoch(1).exists()


def test_a_run_that_is_over_says_that_it_lacks_what_is_asked(where, capsys):
    folder = begun(compose([*TINY, *where]))
    folder.set_status("finished")
    training_run.train_run(compose([*TINY, *where, "probes.every=5"]))
    assert "finished already, skipped: trained with other probes; force=true" in capsys.readouterr().out
    training_run.train_run(compose([*TINY, *where]))
    assert capsys.readouterr().out.endswith("finished already, skipped\n")


def test_what_a_process_had_set_aside_that_died_before_it_began_comes_back(where, capsys):
    folder = begun(compose([*TINY, *where]))
    folder.set_status("finished")
    own_files.set_aside(folder.path)
    training_run.train_run(compose([*TINY, *where]))
    assert "finished already, skipped" in capsys.readouterr().out
    assert folder.saved.of_epoch(1).exists()


def test_a_start_that_fails_costs_a_run_nothing_and_leaves_its_log(monkeypatch, where):
    folder = begun(compose([*TINY, *where]))
    folder.set_status("finished")
    folder.log.write_text("before\n")

    def train(members, *_):
        members[0].folder.set_status("running")
        members[0].folder.log.write_text("no memory\n")
        raise RuntimeError("no memory")

    monkeypatch.setattr(training_run, "_train_claimed", train)
    with pytest.raises(RuntimeError):
        training_run.train_run(compose([*TINY, *where, "force=true"]))
    assert folder.status["state"] == "finished"
    assert folder.saved.of_epoch(1).exists()
    assert folder.log.read_text() == "before\nno memory\n"


@pytest.mark.slow
def test_a_run_that_is_trained_afresh_forgets_what_it_had_and_fails_later_as_any(monkeypatch, where):
    folder = begun(compose([*TINY, *where]))
    folder.set_status("finished")

    def stop(*_):
        raise OSError("no space left on device")

    monkeypatch.setattr(training_run, "_finish", stop)
    with pytest.raises(OSError, match="no space"):
        training_run.train_run(compose([*TINY, *where, "force=true", "max_epoch=1"]))
    assert not own_files.is_set_aside(folder.path)
    assert RunFolder.of(compose([*TINY, *where, "max_epoch=1"])).status["state"] == "failed"


@pytest.mark.slow
def test_a_line_that_nobody_reads_fails_no_run(monkeypatch, where):
    def closed(*_, **__):
        raise BrokenPipeError

    monkeypatch.setattr(tqdm, "write", closed)
    folder = training_run.train_run(compose([*TINY, *where, "max_epoch=1"]))
    assert folder.status["state"] == "finished"
