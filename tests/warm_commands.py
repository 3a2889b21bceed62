"""Run commands of ours without the seconds that their imports take: see warm_server.py.

A command finds what a fresh process has: arguments, environment, working directory, streams, random numbers, logging
and Hydra's state. Only what an interpreter reads once, when it starts, is the server's: the seed of hashes, and the
variables of :data:`READ_AT_START`, but for the folders of ``PYTHONPATH``. Workers of joblib are forks of the command.
"""

import os
import signal
import subprocess
import sys
import time
from dataclasses import dataclass
from functools import cache
from multiprocessing import Pipe
from multiprocessing.connection import Connection
from pathlib import Path
from tempfile import TemporaryDirectory

#: Environment variables, by how their names begin, that Python or a library reads when it starts.
READ_AT_START = ("KMP_", "LANG", "LC_", "LD_", "MKL_", "MPL", "OMP_", "PYTHON")


@dataclass(frozen=True)
class Command:
    """What a process is started with.

    Attributes:
        words: the script and its arguments.
        environment: the whole environment; what :data:`READ_AT_START` names is as in this process.
        directory: the working directory.
        streams: the folder where standard input, output and error lie as files.
        own_session: whether the process and all that it starts are a session of their own.
    """

    words: list[str]
    environment: dict[str, str]
    directory: Path
    streams: Path
    own_session: bool


class WarmProcess:
    """A script of ours that runs, with the attributes and methods of ``subprocess.Popen``.

    Args:
        command: the script and its arguments.
        env: the whole environment; what :data:`READ_AT_START` names is as in this process.
        cwd: the working directory; None is that of this process.
        input: what the command reads from its standard input.
        start_new_session: whether the process and all that it starts are a session of their own.
        own_package: whether to import libraries alone beforehand: the script is that of a copy of the project, which
            ``PYTHONPATH`` names.
    """

    def __init__(
        self,
        command: list[str],
        env: dict[str, str],
        cwd: Path | None = None,
        input: str = "",
        start_new_session: bool = False,
        own_package: bool = False,
    ):
        self._folder = TemporaryDirectory()
        streams = Path(self._folder.name)
        self._stdout, self._stderr = streams / "stdout", streams / "stderr"
        for file, text in ((streams / "stdin", input), (self._stdout, ""), (self._stderr, "")):
            file.write_text(text)
        self._server = _server(own_package)
        self.pid = self._ask(Command(command, env, cwd or Path.cwd(), streams, start_new_session))
        self.returncode: int | None = None

    def poll(self) -> int | None:
        """Return the exit code, or None while the command runs."""
        return self._ask_for_end(to_wait=False)

    def wait(self, timeout: float | None = None) -> int:
        """Wait for the end, and return the exit code.

        Raises:
            TimeoutError: where it runs longer than ``timeout`` seconds.
        """
        if timeout is None:
            return self._ask_for_end(to_wait=True)
        end = time.monotonic() + timeout
        while self.poll() is None:
            if time.monotonic() > end:
                raise TimeoutError(f"it runs longer than {timeout} s: {self.output()}")
            time.sleep(0.01)
        return self.returncode

    def communicate(self, timeout: float | None = None) -> tuple[str, str]:
        """Wait for the end, and return what was written to standard output and error."""
        self.wait(timeout)
        return self.output()

    def output(self) -> tuple[str, str]:
        """Return what is written to standard output and error so far."""
        return self._stdout.read_text(), self._stderr.read_text()

    def send_signal(self, number: int) -> None:
        """Send a signal, unless the command has ended."""
        if self.poll() is None:
            os.kill(self.pid, number)

    def terminate(self) -> None:
        """Tell the command to end."""
        self.send_signal(signal.SIGTERM)

    def _ask_for_end(self, to_wait: bool) -> int | None:
        if self.returncode is None:
            self.returncode = self._ask((self.pid, to_wait))
        return self.returncode

    def _ask(self, request):
        self._server.send(request)
        return self._server.recv()


def run_warm(command: list[str], env: dict[str, str], **options) -> subprocess.CompletedProcess:
    """Run a script of ours to its end, and return what ``subprocess.run`` would; options are :class:`WarmProcess`'s."""
    process = WarmProcess(command, env, **options)
    return subprocess.CompletedProcess(command, process.wait(), *process.output())


@cache
def _server(of_libraries: bool) -> Connection:
    """Start a server of this process, which ends with it, and return the connection to it."""
    mine, its = Pipe()
    command = [sys.executable, "-W", "ignore", str(Path(__file__).with_name("warm_server.py")), str(its.fileno())]
    command += ["--libraries"] if of_libraries else []
    environment = os.environ | {"OMP_NUM_THREADS": "1"}
    with its:
        subprocess.Popen(command, env=environment, pass_fds=[its.fileno()], stdin=subprocess.DEVNULL)
    return mine
