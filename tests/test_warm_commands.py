"""A command that is run as a fork does what it does in an interpreter of its own."""

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from warm_commands import run_warm

pytestmark = pytest.mark.slow

REPORT = """
import logging, os, signal, sys, torch
from hydra.core.config_store import ConfigStore
from hydra.core.global_hydra import GlobalHydra
tell = lambda *values: print(*values, sep="\\n")  # a value a line, so that a difference is seen
tell(__name__, __file__, sys.argv, sys.path, sys.warnoptions, os.getcwd(), *sorted(os.environ.items()))
tell(sys.stdin.read(), sys.stdout.isatty(), sys.stdout.encoding, sys.stdout.line_buffering, sys.stderr.isatty())
tell(logging.root.handlers, logging.root.level, logging.root.manager.disable, logging.raiseExceptions)
tell(GlobalHydra.instance().is_initialized(), sorted(ConfigStore.instance().repo))
tell(torch.get_num_threads(), signal.getsignal(signal.SIGINT), os.getpgid(0), sorted(os.listdir("/proc/self/fd")))
"""


def run_fresh(command: list[str], env: dict[str, str], cwd: Path, input: str) -> subprocess.CompletedProcess:
    """Run a script in an interpreter of its own."""
    interpreter = [sys.executable, "-W", "ignore"]
    return subprocess.run([*interpreter, *command], capture_output=True, text=True, env=env, cwd=cwd, input=input)


def run(how: Callable, tmp_path: Path, text: str, *arguments: str, input: str = "") -> subprocess.CompletedProcess:
    """Run a script of this text by ``run_fresh`` or ``run_warm``."""
    script = tmp_path / "script.py"
    script.write_text(text)
    env = os.environ | {"OMP_NUM_THREADS": "1", "OWN": "ä\udcff"}
    return how([str(script), *arguments], env=env, cwd=tmp_path, input=input)


def test_it_finds_what_a_fresh_process_has(tmp_path):
    fresh, warm = (run(how, tmp_path, REPORT, "one", "--two", input="three\nfour\n") for how in (run_fresh, run_warm))
    assert fresh.returncode == 0, fresh.stderr
    assert (warm.returncode, warm.stderr) == (0, fresh.stderr)
    assert warm.stdout.splitlines() == fresh.stdout.splitlines()


@pytest.mark.parametrize(
    "end",
    [
        "",
        "sys.exit(3)",
        "sys.exit('why')",
        "raise SystemExit",
        "os._exit(4)",
        "os.kill(os.getpid(), signal.SIGKILL)",
        "signal.raise_signal(signal.SIGTERM)",
        "raise KeyboardInterrupt",
        "1 / 0",
        "threading.Timer(0.2, print, ['of a thread']).start()",
        "sys.stdout.close(); sys.exit(5)",
        "os.close(1)",
    ],
)
def test_it_ends_as_a_fresh_process_does(tmp_path, end):
    start = "import atexit, os, signal, sys, threading\natexit.register(print, 'at the end')\nprint('not flushed')\n"
    fresh, warm = (run(how, tmp_path, start + end) for how in (run_fresh, run_warm))
    assert (warm.returncode, warm.stdout) == (fresh.returncode, fresh.stdout)
    assert warm.stderr.splitlines()[-1:] == fresh.stderr.splitlines()[-1:], "a traceback is longer by our frames"


def test_random_numbers_differ_from_command_to_command(tmp_path):
    text = "import random, numpy, torch; print(random.random(), numpy.random.rand(), torch.rand(1).item())"
    first, second = (run(run_warm, tmp_path, text).stdout.split() for _ in range(2))
    assert len({*first, *second}) == 6
