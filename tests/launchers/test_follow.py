"""A sweep is followed to its end; a recipe is handed over as soon as its runs are over."""

import os
import signal
import subprocess
import sys
import textwrap

import pytest

from lnexp.launchers import follow
from lnexp.launchers.follow import Follower
from lnexp.runs.folder import RunFolder
from lnexp.runs.status_table import SweepStatus
from lnexp.runs.sweep import Sweep, SweepRun, newest_sweep
from lnexp.terminal import Footer

#: Trains, in appearance, one run of each of two recipes; the second waits for the file ``go``, and not for ever.
SWEEP = """
    import sys, time
    from pathlib import Path
    from lnexp.runs.folder import RunFolder
    from lnexp.runs.sweep import Sweep, SweepRun

    runs = Path(sys.argv[1])
    made = [SweepRun(name * 8, name, 1, 1, arms=[f"recipe_{name}/arm"]) for name in "ab"]
    Sweep("both", made).save(runs)
    for name in "ab":
        latest = time.monotonic() + 30
        while name == "b" and not (runs / "go").exists() and time.monotonic() < latest:
            time.sleep(0.02)
        folder = RunFolder(runs / "adhoc" / f"{name}-{name * 8}")
        folder.path.mkdir(parents=True)
        folder.set_status("finished")
        print(f"{name} | finished", flush=True)
    sys.exit(3)
"""


@pytest.fixture
def command(tmp_path) -> list[str]:
    script = tmp_path / "sweep.py"
    script.write_text(textwrap.dedent(SWEEP))
    return [sys.executable, str(script), str(tmp_path / "runs")]


@pytest.fixture(autouse=True)
def _impatient(monkeypatch):
    monkeypatch.setattr(follow, "SECONDS", 0.05)


def test_of_a_command_that_has_begun_nothing_no_recipe_is_handed_over(tmp_path):
    whole = []
    follower = Follower(["recipe_a"], tmp_path / "runs", whole.append)
    assert follower.follow([sys.executable, "-c", "raise SystemExit(2)"], {}) == 2
    assert (whole, follower.began) == ([], False)


def test_a_recipe_is_handed_over_while_the_next_one_is_trained(tmp_path, command, capsys):
    whole = []

    def show(recipe: str) -> None:
        whole.append(recipe)
        if recipe == "recipe_a":
            assert not (tmp_path / "runs" / "adhoc" / "b-bbbbbbbb").exists()
            (tmp_path / "runs" / "go").touch()

    code = Follower(["recipe_a", "recipe_b"], tmp_path / "runs", show).follow(command, {})
    assert (code, whole) == (3, ["recipe_a", "recipe_b"])
    assert capsys.readouterr().out.splitlines() == ["a | finished", "b | finished"]


def test_a_recipe_that_is_whole_does_not_wait_for_one_of_which_a_run_failed(tmp_path, command):
    whole = []

    def show(recipe: str) -> None:
        whole.append(recipe)
        (tmp_path / "runs" / "go").touch()

    Follower(["recipe_b", "recipe_a"], tmp_path / "runs", show).follow(command, {})
    assert whole == ["recipe_a", "recipe_b"]


def test_where_finished_runs_are_trained_again_all_is_shown_at_the_end(tmp_path, command):
    (tmp_path / "runs").mkdir()
    (tmp_path / "runs" / "go").touch()
    whole = []

    def show(recipe: str) -> None:
        assert (tmp_path / "runs" / "adhoc" / "b-bbbbbbbb").exists()
        whole.append(recipe)

    Follower(["recipe_a", "recipe_b"], tmp_path / "runs", show, early=False).follow(command, {})
    assert whole == ["recipe_a", "recipe_b"]


def test_an_earlier_sweep_is_not_taken_for_this_one(tmp_path):
    Sweep("earlier", [SweepRun("a" * 8, "a", 1, 1, arms=["recipe_a/arm"])]).save(tmp_path)
    assert newest_sweep(tmp_path).title == "earlier"
    follower = Follower(["recipe_a"], tmp_path, print)
    follower._started += 1
    assert follower._sweep() is None


def test_a_later_sweep_of_the_same_recipes_is_not_taken_for_this_one(tmp_path):
    follower = Follower(["recipe_a"], tmp_path, print)
    follower._started -= 1
    for title, name in (("this one", "a"), ("later", "b")):
        Sweep(title, [SweepRun(name * 8, name, 1, 1, arms=["recipe_a/arm"])]).save(tmp_path)
        assert follower._sweep().title == "this one"
    assert newest_sweep(tmp_path).title == "later"


#: A command that says when it has begun and when it is told to end; and one that follows it.
WAITS = """
    import os, signal

    signal.signal(signal.SIGTERM, lambda *_: os._exit(os.write(1, b"saved\\n") - 6))
    os.write(1, b"begun\\n")
    signal.pause()
"""
FOLLOWS = """
    import sys
    from lnexp.launchers.follow import Follower

    Follower(["recipe_a"], sys.argv[1], print).follow([sys.executable, sys.argv[2]], {})
    print("not reached")
"""


def test_a_signal_to_end_is_passed_on_and_ends_both(tmp_path):
    (tmp_path / "waits.py").write_text(textwrap.dedent(WAITS))
    command = [sys.executable, "-c", textwrap.dedent(FOLLOWS), str(tmp_path), str(tmp_path / "waits.py")]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout.readline() == "begun\n"
        process.terminate()
        assert process.stdout.read() == "saved\n"
    assert process.returncode == 128 + signal.SIGTERM


def test_a_recipe_has_all_its_runs_only_when_none_is_left(tmp_path):
    runs = [SweepRun(name * 8, name, 1, 1, arms=[f"one/{name}", f"two/{name}"]) for name in "ab"]
    status = SweepStatus(Sweep("both", [*runs, SweepRun("c" * 8, "c", 1, 1, arms=["three/c"])]), tmp_path)
    assert not status.has_all_of("one")
    assert not status.has_all_of("three")
    assert not status.has_all_of("of another sweep")


def test_a_run_that_failed_may_be_trained_again(tmp_path):
    sweep = Sweep("one", [SweepRun("a" * 8, "a", 1, 1, arms=["one/a"])])
    folder = RunFolder(tmp_path / "adhoc" / f"a-{'a' * 8}")
    folder.path.mkdir(parents=True)
    whole = []
    for state in ("failed", "running", "diverged"):
        folder.set_status(state)
        whole.append(SweepStatus(sweep, tmp_path).has_all_of("one"))
    assert whole == [False, False, True]


def test_another_sweep_in_the_same_folder_is_not_taken_for_this_one(tmp_path):
    follower = Follower(["recipe_a", "recipe_b"], tmp_path, print)
    follower._started -= 1  # the clock of files is a coarse one
    arms = [f"recipe_{name}/arm" for name in "abc"]
    own = Sweep("own", [SweepRun(arm[-5] * 8, arm, 1, 1, arms=[arm]) for arm in arms[:2]])
    own.save(tmp_path)
    for other in (Sweep("none", [SweepRun("d" * 8, "d", 1, 1)]), Sweep("another", own.members[:1])):
        other.save(tmp_path)
        assert follower._sweep() == own


def test_the_footer_is_gone_while_a_recipe_is_shown(tmp_path, monkeypatch):
    done = []
    monkeypatch.setattr(Footer, "__enter__", lambda self: done.append("shown"))
    monkeypatch.setattr(Footer, "__exit__", lambda self, *_: done.append("gone"))
    Follower(["one"], tmp_path, done.append)._hand_over("one")
    assert done == ["gone", "one", "shown"]


def test_an_interrupt_that_only_this_process_has_ends_the_command_too(tmp_path, monkeypatch):
    monkeypatch.setattr(follow, "GRACE", 0.05)
    monkeypatch.setattr(Follower, "_look", lambda self: os.kill(os.getpid(), signal.SIGINT))
    sleep = "import time\ntry: time.sleep(60)\nexcept KeyboardInterrupt: print('interrupted', flush=True)"
    with pytest.raises(SystemExit) as ended:
        Follower([], tmp_path, print).follow([sys.executable, "-c", sleep], {})
    assert ended.value.code == 130
