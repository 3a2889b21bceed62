"""One process a run, and a killed one is no obstacle."""

import os
import subprocess
import sys

import pytest

from lnexp.errors import UserError
from lnexp.runs.lock import RunBusyError, held, is_held

HOLD = """
import sys, time
from lnexp.errors import UserError
from lnexp.runs.lock import held
with held(sys.argv[1], "0123abcd"):
    print("held", flush=True)
    time.sleep(60)
"""


def test_a_second_process_is_refused_and_a_killed_holder_is_no_obstacle(tmp_path):
    assert not is_held(tmp_path, "0123abcd")
    holder = subprocess.Popen([sys.executable, "-c", HOLD, str(tmp_path)], stdout=subprocess.PIPE, text=True)
    assert holder.stdout is not None
    assert holder.stdout.readline() == "held\n"
    assert is_held(tmp_path, "0123abcd")
    with pytest.raises(RunBusyError, match="another process is training this run"), held(tmp_path, "0123abcd"):
        pass
    with held(tmp_path, "89abcdef"):
        assert is_held(tmp_path, "89abcdef")
    holder.kill()
    holder.wait()
    assert not is_held(tmp_path, "0123abcd")
    with held(tmp_path, "0123abcd"):
        pass


def test_looking_at_a_lock_writes_nothing(tmp_path, monkeypatch):
    """For it may be that of a run of another user, or lie on a disk that cannot be written."""
    asked, opens = [], os.open
    with held(tmp_path, "0123abcd"):
        monkeypatch.setattr(os, "open", lambda path, flags, *more: asked.append(flags) or opens(path, flags, *more))
        assert is_held(tmp_path, "0123abcd")
    assert len(asked) == 1
    assert not asked[0] & (os.O_WRONLY | os.O_RDWR | os.O_CREAT)
    assert not is_held(tmp_path / "none", "0123abcd")
    assert not (tmp_path / "none").exists()


def test_a_link_in_the_place_of_a_lock_is_refused(tmp_path):
    (tmp_path / ".locks").mkdir()
    (tmp_path / ".locks" / "0123abcd").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(UserError, match="not a regular file"):
        is_held(tmp_path, "0123abcd")
