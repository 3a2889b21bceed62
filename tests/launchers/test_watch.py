"""A sweep prints a line for each run that ends, whatever launcher trains it."""

import pytest

from lnexp.launchers import watch
from lnexp.launchers.watch import Watch
from lnexp.runs import records
from lnexp.runs.folder import RunFolder
from lnexp.runs.sweep import Sweep, SweepRun


def folder(tmp_path, name: str, state: str, why: str = "") -> RunFolder:
    made = RunFolder(tmp_path / "adhoc" / f"run-{name}")
    made.path.mkdir(parents=True, exist_ok=True)
    made.set_status(state, why)
    return made


@pytest.fixture
def sweep() -> Sweep:
    return Sweep("x", [SweepRun(name * 2, name, 1, 2, label=f"{name}-ln s1") for name in "abcd"])


def test_each_run_that_ends_has_a_line_with_its_position(tmp_path, sweep, capsys):
    folder(tmp_path, "aa", "finished")
    folder(tmp_path, "bb", "failed", "earlier")
    watching = Watch(sweep, tmp_path, ["bb", "cc", "dd"], quiet=False)
    watching.look()
    assert capsys.readouterr().out == "", "one was done, and one had failed before"
    made = folder(tmp_path, "cc", "running")
    made.append({"kind": "epoch", "epoch": 1, "update": 3, "valid_loss": 2.0, "valid_nll": 1.5, "valid_bleu": 91.64,
                 "lr": 0.1, "seconds": 38.0})  # fmt: skip
    watching.look()
    assert capsys.readouterr().out == ""
    made.set_status("finished")
    watching.look()
    watching.look()
    assert capsys.readouterr().out == "[2/4] c-ln s1  BLEU 91.6  0:38\n"
    folder(tmp_path, "bb", "running")
    folder(tmp_path, "bb", "failed", "OSError: disk full")
    watching.look()
    assert capsys.readouterr().out == "[3/4] b-ln s1  failed: OSError: disk full\n"


def test_the_last_runs_are_told_of_before_the_sweep_ends(tmp_path, sweep, capsys):
    with Watch(sweep, tmp_path, ["dd"], quiet=True):
        folder(tmp_path, "dd", "diverged", "gradients are Nan/Inf")
    assert capsys.readouterr().out == "[4/4] d-ln s1  diverged  0:00\n", "and no footer where there is no terminal"


def test_a_log_says_now_and_then_what_is_left(tmp_path, sweep, capsys, monkeypatch):
    monkeypatch.setattr(watch, "SILENCE", -1.0)
    monkeypatch.setattr(watch, "SECONDS", 0.0)
    said = watch.threading.Event()
    monkeypatch.setattr(Watch, "_print", lambda self, line: (print(line), said.set()))
    with Watch(sweep, tmp_path, ["dd"], quiet=False):
        assert said.wait(60)
    assert capsys.readouterr().out.splitlines()[0] == "0 of 4 done, 4 waiting; make status"


def test_what_is_done_is_read_once_and_what_is_trained_again_is_not_done(tmp_path, sweep, monkeypatch):
    read = []
    monkeypatch.setattr(records, "read", lambda path: read.append(path.parent.name.rpartition("-")[2]) or [])
    for name in ("aa", "bb"):
        folder(tmp_path, name, "finished")
    watching = Watch(sweep, tmp_path, ["bb", "cc", "dd"], quiet=False)
    assert watching._what_is_left() == watching._what_is_left() == "2 of 4 done, 2 waiting; make status"
    assert sorted(read) == ["aa", "bb", "bb"]
    folder(tmp_path, "bb", "failed")
    assert watching._what_is_left().startswith("1 of 4 done")


def test_a_warm_up_that_never_ends_is_warned_of_once_for_all_runs(tmp_path, sweep, capsys):
    first = {"kind": "epoch", "epoch": 1, "update": 30, "valid_loss": 2.0, "valid_nll": 1.5, "valid_bleu": 9.0, "lr": 1,
             "seconds": 1.0}  # fmt: skip

    def look(quiet: bool) -> str:
        watching = Watch(sweep, tmp_path, ["aa", "bb", "cc", "dd"], quiet=quiet)
        watching.look()
        for name, warmup in (("aa", 300), ("bb", 300), ("cc", 60)):
            made = folder(tmp_path, name, "running")
            (made.path / "config.yaml").write_text(f"warmup_updates: {warmup}\n")
            made.append(first)
        watching.look()
        watching.look()
        return capsys.readouterr().out

    assert look(quiet=True) == ("warning: warmup_updates=300: the warm-up never ends, the run has about 60 updates\n")
    assert look(quiet=False) == "", "the runs say it themselves"
