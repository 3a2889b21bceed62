"""A command that is run as a fork does what it does in an interpreter of its own."""

import os
import resource
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from warm_commands import run_warm, warm_python

from lnexp.paths import CONFIG_DIR

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


def run_program(command: list[str], env: dict[str, str], cwd: Path, input: str) -> subprocess.CompletedProcess:
    """Run a script by the ``python3`` that hands it to the server."""
    program = [str(warm_python()), "-W", "ignore", "-u"]
    return subprocess.run([*program, *command], capture_output=True, text=True, env=env, cwd=cwd, input=input)


def run(how: Callable, tmp_path: Path, text: str, *arguments: str, input: str = "") -> subprocess.CompletedProcess:
    """Run a script of this text by ``run_fresh``, ``run_warm`` or ``run_program``."""
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
        "os.kill(os.getpid(), signal.SIGKILL); time.sleep(9)",
        "signal.raise_signal(signal.SIGTERM)",
        "raise KeyboardInterrupt",
        "1 / 0",
        "threading.Timer(0.2, print, ['of a thread']).start()",
        "sys.stdout.close(); sys.exit(5)",
        "os.close(1)",
    ],
)
def test_it_ends_as_a_fresh_process_does(tmp_path, end):
    start = (
        "import atexit, os, signal, sys, threading, time\natexit.register(print, 'at the end')\nprint('not flushed')\n"
    )
    fresh, *others = (run(how, tmp_path, start + end) for how in (run_fresh, run_warm, run_program))
    for warm in others:
        assert (warm.returncode, warm.stdout) == (fresh.returncode, fresh.stdout)
        assert warm.stderr.splitlines()[-1:] == fresh.stderr.splitlines()[-1:], "a traceback is longer by our frames"


@pytest.mark.parametrize("words", [["-m", "own", "one"], ["-c", "import own", "one"]])
def test_a_module_and_code_are_run_as_by_python(tmp_path, words):
    (tmp_path / "own.py").write_text("import sys; print(sys.argv, sys.path[0], sys.modules['__main__'].__name__)")
    fresh, *others = (
        how(words, env={**os.environ}, cwd=tmp_path, input="") for how in (run_fresh, run_warm, run_program)
    )
    assert fresh.returncode == 0, fresh.stderr
    assert [warm.stdout for warm in others] == [fresh.stdout] * 2


#: Tells who it is and whose child, and then waits for a signal, in short sleeps: one that arrives just before a sleep
#: begins is only handled when that is over.
WAITING = """
import os, signal, sys, time
signal.signal(signal.SIGUSR1, lambda *_: sys.exit(7))
print(os.getpid(), os.getppid(), flush=True)
for _ in range(600):
    time.sleep(0.1)
"""


def waiting(tmp_path: Path) -> subprocess.Popen:
    """Start the program with a script that waits, after it has said so."""
    script = tmp_path / "script.py"
    script.write_text(WAITING)
    process = subprocess.Popen([warm_python(), script], stdout=subprocess.PIPE, text=True)
    assert process.stdout.readline().split() == [str(process.pid), str(os.getpid())], "as of a process of its own"
    return process


def test_a_signal_reaches_the_command_and_its_end_is_that_of_the_program(tmp_path):
    with waiting(tmp_path) as process:
        process.send_signal(signal.SIGUSR1)
        assert process.wait(30) == 7
    with waiting(tmp_path) as process:
        process.terminate()
        assert process.wait(30) == -signal.SIGTERM


def test_a_program_that_is_killed_takes_its_command_along(tmp_path):
    with waiting(tmp_path) as process:
        process.kill()
        assert process.wait(30) == -signal.SIGKILL
        assert process.stdout.read() == "", "nobody writes there any more"


def test_limits_and_ignored_signals_are_those_of_the_program(tmp_path):
    def confine() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (10, 10))
        signal.signal(signal.SIGHUP, signal.SIG_IGN)

    code = "import signal, pathlib; signal.raise_signal(signal.SIGHUP); pathlib.Path('file').write_text('x' * 11)"
    words = [warm_python(), "-c", code]
    done = subprocess.run(words, cwd=tmp_path, preexec_fn=confine, capture_output=True, text=True)
    assert done.returncode == 1
    assert "File too large" in done.stderr


def test_random_numbers_differ_from_command_to_command(tmp_path):
    text = "import random, numpy, torch; print(random.random(), numpy.random.rand(), torch.rand(1).item())"
    first, second = (run(run_warm, tmp_path, text).stdout.split() for _ in range(2))
    assert len({*first, *second}) == 6


MODE = """
import sys
from hydra import compose, initialize_config_dir
with initialize_config_dir(sys.argv[1], version_base="1.3"):
    print(compose("train", return_hydra_config=True).hydra.mode)
"""


def test_no_config_of_ours_says_whether_a_command_is_a_sweep():
    """The server has Hydra compose no config to read that."""
    done = run_warm(["-c", MODE, str(CONFIG_DIR)])
    assert (done.stdout, done.stderr) == ("None\n", "")
