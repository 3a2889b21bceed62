"""A run folder's status, lock and checkpoints."""

import subprocess
import sys

import pytest

from lnexp.errors import UserError
from lnexp.runs.folder import RunFolder


@pytest.fixture
def folder(tmp_path) -> RunFolder:
    path = tmp_path / "post_ln-s1-0123abcd"
    (path / "checkpoints").mkdir(parents=True)
    return RunFolder(path)


def test_identity_is_in_the_name(folder):
    assert folder.identity == "0123abcd"


def test_status_is_kept_whole_and_remembers_its_start(folder):
    assert folder.status == {}
    assert not folder.is_done
    folder.set_status("running")
    started = folder.status["started"]
    folder.set_status("diverged", "gradients are Nan/Inf", updates=7)
    assert (folder.status["state"], folder.status["updates"], folder.status["started"]) == ("diverged", 7, started)
    assert folder.is_done
    assert [path.name for path in folder.path.glob(".status*")] == []


@pytest.mark.parametrize("content", ["{", "[]", ""])
def test_a_broken_status_is_named(folder, content):
    (folder.path / "status.json").write_text(content)
    with pytest.raises(UserError, match=r"status\.json: malformed"):
        folder.is_done  # noqa: B018
    folder.set_status("running")
    assert folder.status["state"] == "running", "it can be replaced"


def test_the_newest_checkpoint_is_the_highest_epoch(folder):
    assert folder.last_checkpoint_epoch() == 0
    for name in ("checkpoint2.pt", "checkpoint10.pt", "checkpoint_best.pt", "crash.pt", "checkpoint11.pt.tmp"):
        (folder.checkpoints / name).touch()
    assert folder.last_checkpoint_epoch() == 10


def test_a_second_process_is_refused_and_a_killed_holder_is_no_obstacle(folder):
    hold = (
        "import sys, time; from pathlib import Path; from lnexp.runs.folder import RunFolder\n"
        "with RunFolder(Path(sys.argv[1])).locked(): print('held', flush=True); time.sleep(60)"
    )
    holder = subprocess.Popen([sys.executable, "-c", hold, str(folder.path)], stdout=subprocess.PIPE, text=True)
    assert holder.stdout is not None
    assert holder.stdout.readline() == "held\n"
    with pytest.raises(UserError, match="another process is training this run"), folder.locked():
        pass
    holder.kill()
    holder.wait()
    with folder.locked():
        pass


def test_clearing_forgets_everything_but_the_lock(folder):
    with folder.locked():
        folder.set_status("finished")
        folder.append({"kind": "end"})
        folder.clear()
        assert [path.name for path in folder.path.iterdir()] == ["lock"]
