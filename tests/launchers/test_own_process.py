"""The command that trains what is asked for from Python."""

import sys

import pytest

from lnexp.launchers import own_process
from lnexp.launchers.own_process import train_in_own_process


@pytest.mark.parametrize(
    ("overrides", "is_sweep"),
    [(["seed=1"], False), (["seed=1,2"], True), (["seed=1,1"], True), (["+recipe=fig2a", "n_seeds=1"], True)],
)
def test_values_that_give_one_run_twice_are_a_sweep_as_well(monkeypatch, tmp_path, overrides, is_sweep):
    """Hydra takes a list of values with -m alone."""
    commands = []
    monkeypatch.setattr(own_process, "_run", commands.append)
    monkeypatch.setattr(own_process, "find_folders", lambda runs_dir: AnyRun())
    found = train_in_own_process([*overrides, f"runs_dir={tmp_path}"])
    assert ("-m" in commands[0]) == is_sweep
    assert len(found) == len(set(found))


SAVES = """
import signal, sys, time
def save(*_):
    print("saved", flush=True)
    sys.exit(0)
signal.signal(signal.SIGTERM, save)
print("training", flush=True)
time.sleep(100)
"""


def test_a_run_that_is_interrupted_can_say_that_it_is_saved(monkeypatch):
    """Where nobody read it, a run would fail by saying so."""
    printed = []

    def interrupted_at_first(text, **_):
        printed.append(text)
        if len(printed) == 1:
            raise KeyboardInterrupt

    monkeypatch.setattr(own_process, "print", interrupted_at_first, raising=False)
    with pytest.raises(KeyboardInterrupt):
        own_process._run([sys.executable, "-c", SAVES])
    assert printed == ["training\n", "saved\n"]


class AnyRun(dict):
    """A folder for every identity."""

    def __missing__(self, identity):
        return identity
