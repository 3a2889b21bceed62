"""Run commands of ours without the seconds that their imports take: see warm_server.py.

A command finds what a fresh process has: arguments, environment, working directory, streams, random numbers, logging
and Hydra's state. Only what an interpreter reads once, when it starts, is the server's: the seed of hashes, and the
variables of :data:`READ_AT_START`; and wandb cannot be used, for its temporary folder is the server's, too.
"""

import os
import subprocess
import sys
from functools import cache
from multiprocessing import Pipe
from multiprocessing.connection import Connection
from pathlib import Path
from tempfile import TemporaryDirectory

#: Environment variables, by how their names begin, that Python or a library reads when it starts.
READ_AT_START = ("KMP_", "LANG", "LC_", "LD_", "MKL_", "MPL", "OMP_", "PYTHON")


def run_warm(
    command: list[str], env: dict[str, str], cwd: Path | None = None, input: str = ""
) -> subprocess.CompletedProcess:
    """Run a script of ours, ``command[0]``, to its end, and return what ``subprocess.run`` would.

    Args:
        command: the script and its arguments.
        env: the whole environment; what :data:`READ_AT_START` names is as in this process.
        cwd: the working directory; None is that of this process.
        input: what the command reads from its standard input.
    """
    with TemporaryDirectory() as folder:
        stdin, stdout, stderr = (Path(folder, name) for name in ("stdin", "stdout", "stderr"))
        for file, text in ((stdin, input), (stdout, ""), (stderr, "")):
            file.write_text(text)
        server = _server()
        server.send((command, env, cwd or Path.cwd(), Path(folder)))
        return subprocess.CompletedProcess(command, server.recv(), stdout.read_text(), stderr.read_text())


@cache
def _server() -> Connection:
    """Start the server of this process, which ends with it, and return the connection to it."""
    mine, its = Pipe()
    command = [sys.executable, "-W", "ignore", str(Path(__file__).with_name("warm_server.py")), str(its.fileno())]
    environment = os.environ | {"OMP_NUM_THREADS": "1"}
    with its:
        subprocess.Popen(command, env=environment, pass_fds=[its.fileno()], stdin=subprocess.DEVNULL)
    return mine
