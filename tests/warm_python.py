"""A ``python3`` for shell scripts, which runs what it is given as a fork of a warm process: see warm_commands.py."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from multiprocessing.connection import Client, Listener
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Thread

from warm_commands import run_warm

#: The program: it hands its arguments over, and ends as the command did.
PROGRAM = """#!{interpreter} -IS
import os
import sys
from multiprocessing.connection import Client

with Client({address!r}) as connection:
    connection.send((sys.argv[1:], dict(os.environ), os.getcwd()))
    code, stdout, stderr = connection.recv()
sys.stdout.write(stdout)
sys.stderr.write(stderr)
sys.exit(code if code >= 0 else 128 - code)
"""


@contextmanager
def warm_python() -> Iterator[Path]:
    """Yield a folder for ``PATH`` whose ``python3`` takes ``SCRIPT …`` or ``-c CODE …``, one command at a time."""
    with TemporaryDirectory() as name:
        folder = Path(name)
        address = str(folder / "socket")
        (folder / "python3").write_text(PROGRAM.format(interpreter=sys.executable, address=address))
        (folder / "python3").chmod(0o755)
        with Listener(address) as listener:
            thread = Thread(target=_answer, args=(listener, folder / "code.py"))
            thread.start()
            try:
                yield folder
            finally:
                with Client(address) as connection:
                    connection.send(None)
                thread.join()


def _answer(listener: Listener, code: Path) -> None:
    """Run the commands that are handed over until there is None; an error refuses all that come later."""
    with listener:
        while True:
            with listener.accept() as connection:
                request = connection.recv()
                if request is None:
                    return
                arguments, environment, directory = request
                if arguments[0] == "-c":
                    code.write_text(arguments[1])
                    arguments = [str(code), *arguments[2:]]
                done = run_warm(arguments, environment, cwd=Path(directory))
                connection.send((done.returncode, done.stdout, done.stderr))
