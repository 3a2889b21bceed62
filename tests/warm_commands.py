"""Run commands of ours without the seconds that their imports take: see warm_server.py.

A command finds what a fresh process has: arguments, environment, working directory, streams, random numbers, logging
and Hydra's state. Only what an interpreter reads once, when it starts, is the server's: the seed of hashes, and the
variables of :data:`READ_AT_START`, but for the folders of ``PYTHONPATH``. Workers of joblib are forks of the command,
and what it starts by ``sys.executable`` is one of the server: see warm_python.py.

All processes of a test session share one server, which the first one that needs it starts. It ends with the last.
"""

import fcntl
import json
import os
import select
import shutil
import signal
import socket
import subprocess
import sys
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory, gettempdir

#: Environment variables, by how their names begin, that Python or a library reads when it starts.
READ_AT_START = ("KMP_", "LANG", "LC_", "LD_", "MKL_", "MPL", "OMP_", "PYTHON")
#: What is imported already: everything that our commands import, or libraries alone, for a copy of the project.
OURS, LIBRARIES = "ours", "libraries"


class WarmProcess:
    """A script of ours that runs, with the attributes and methods of ``subprocess.Popen``.

    Args:
        command: the words behind ``python``: the script and its arguments, ``-m MODULE …`` or ``-c CODE …``.
        env: the whole environment; None is that of this process. What :data:`READ_AT_START` names is as here.
        cwd: the working directory; None is that of this process.
        input: what the command reads from its standard input.
        start_new_session: whether the process and all that it starts are a session of their own.
        own_package: whether to import libraries alone beforehand: the script is that of a copy of the project, which
            ``PYTHONPATH`` names.
        largest_file: the most bytes that the process may write into one file; None sets no limit.
    """

    def __init__(
        self,
        command: list[str],
        env: dict[str, str] | None = None,
        cwd: Path | None = None,
        input: str = "",
        start_new_session: bool = False,
        own_package: bool = False,
        largest_file: int | None = None,
    ):
        self._folder = TemporaryDirectory()
        streams = [Path(self._folder.name) / name for name in ("stdin", "stdout", "stderr")]
        streams[0].write_text(input)
        self._streams = streams
        request = {
            "words": command,
            "environment": dict(os.environ) if env is None else env,
            "directory": str(cwd or Path.cwd()),
            "own_session": start_new_session,
            "largest_file": largest_file,
        }
        self._server = _connected(LIBRARIES if own_package else OURS)
        files = [os.open(path, os.O_RDWR | os.O_APPEND | os.O_CREAT) for path in streams]
        socket.send_fds(self._server, [json.dumps(request).encode()], files)
        for file in files:
            os.close(file)
        self.pid = self._answer()
        self.returncode: int | None = None

    def poll(self) -> int | None:
        """Return the exit code, or None while the command runs."""
        return self._code_within(0)

    def wait(self, timeout: float | None = None) -> int:
        """Wait for the end, and return the exit code.

        Raises:
            TimeoutError: where it runs longer than ``timeout`` seconds.
        """
        code = self._code_within(timeout)
        if code is None:
            raise TimeoutError(f"it runs longer than {timeout} s: {self.output()}")
        return code

    def communicate(self, timeout: float | None = None) -> tuple[str, str]:
        """Wait for the end, and return what was written to standard output and error."""
        self.wait(timeout)
        return self.output()

    def output(self) -> tuple[str, str]:
        """Return what is written to standard output and error so far."""
        return self._streams[1].read_text(), self._streams[2].read_text()

    def send_signal(self, number: int) -> None:
        """Send a signal, unless the command has ended."""
        if self.poll() is None:
            os.kill(self.pid, number)

    def terminate(self) -> None:
        """Tell the command to end."""
        self.send_signal(signal.SIGTERM)

    def _code_within(self, seconds: float | None) -> int | None:
        """Return the exit code, as soon as there is one; None where there is none after so many seconds."""
        if self.returncode is None and select.select([self._server], [], [], seconds)[0]:
            self.returncode = self._answer()
            self._server.close()
        return self.returncode

    def _answer(self) -> int:
        answer = self._server.recv(32)
        assert answer, "the server of commands has died"
        return int(answer)


def run_warm(command: list[str], env: dict[str, str] | None = None, **options) -> subprocess.CompletedProcess:
    """Run a script of ours to its end, and return what ``subprocess.run`` would; options are :class:`WarmProcess`'s."""
    process = WarmProcess(command, env, **options)
    return subprocess.CompletedProcess(command, process.wait(), *process.output())


def warm_python(imported: str = OURS) -> Path:
    """Return the path of a ``python3`` whose processes have imported what takes time; see warm_python.py."""
    return _serving() / imported / "python3"


def _connected(imported: str) -> socket.socket:
    """Return a new connection to the server that has imported this."""
    return _connection(_serving() / imported)


def _connection(folder: Path) -> socket.socket:
    connection = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    connection.connect(str(folder / "socket"))
    return connection


@cache
def _serving() -> Path:
    """Have both servers run for as long as this process does, and return the folder where they are reached."""
    folder = Path(gettempdir()) / f"lnexp-{os.environ.get('PYTEST_XDIST_TESTRUNUID', os.getpid())}"
    folder.mkdir(mode=0o700, exist_ok=True)
    with (folder / "lock").open("w") as lock:  # of several processes one starts the servers
        fcntl.flock(lock, fcntl.LOCK_EX)
        try:
            _LIFELINES.append(_connection(folder / OURS))
        except OSError:  # nobody has started them, or they were killed
            _start(folder)
            _LIFELINES.append(_connection(folder / OURS))
        _LIFELINES.append(_connection(folder / LIBRARIES))
    return folder


#: Connections that are closed when this process ends.
_LIFELINES: list[socket.socket] = []


def _start(folder: Path) -> None:
    """Start the servers. Connections to them wait until they have imported what they are to."""
    here = Path(__file__).parent
    program = f"#!{sys.executable} -IS\n" + (here / "warm_python.py").read_text()
    listeners = []
    for imported in (LIBRARIES, OURS):
        shutil.rmtree(folder / imported, ignore_errors=True)
        (folder / imported).mkdir()
        (folder / imported / "python3").write_text(program)
        (folder / imported / "python3").chmod(0o755)
        listener = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        listener.bind(str(folder / imported / "socket"))
        listener.listen()
        listeners.append(listener)
    numbers = [listener.fileno() for listener in listeners]
    command = [sys.executable, "-W", "ignore", str(here / "warm_server.py"), *map(str, numbers)]
    environment = os.environ | {"OMP_NUM_THREADS": "1"}
    subprocess.Popen(command, env=environment, pass_fds=numbers, stdin=subprocess.DEVNULL)
    for listener in listeners:
        listener.close()
