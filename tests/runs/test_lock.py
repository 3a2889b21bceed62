"""One process a run, and a killed one is no obstacle."""

import subprocess
import sys

import pytest

from lnexp.runs.lock import RunBusyError, held, is_held

HOLD = """
import sys, time
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
