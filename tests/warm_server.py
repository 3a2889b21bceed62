"""Run commands as forks of this process, which has imported what they import: the server of warm_commands.py.

A fork leaves the loop below and runs its script, so the interpreter itself ends the command: what is raised, what
atexit holds and what is not flushed yet are treated as ever. ``multiprocessing``'s own fork server ends its processes
with ``os._exit``, and tells them that they are workers.
"""

import gc
import importlib
import logging
import os
import runpy
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from multiprocessing.connection import Connection
from pathlib import Path

import numpy
import torch
from hydra.core.config_store import ConfigStore
from joblib.externals.loky.backend.context import set_start_method
from wandb.sdk.data_types._private import MEDIA_TMP
from warm_commands import Command

#: Libraries that take time, wherever the project lies: the first optimizer asks for torch._dynamo.
LIBRARIES = ("fairseq_cli.train", "hydra.main", "matplotlib.figure", "pandas", "sacrebleu", "torch._dynamo")


def import_libraries() -> None:
    """Import the libraries that take time."""
    for library in LIBRARIES:
        importlib.import_module(library)


def import_what_commands_import() -> None:
    """Import everything of ours and of others that takes time."""
    import_libraries()

    import lnexp.corpora.command
    import lnexp.corpora.tokenize_command
    import lnexp.figures.folder
    import lnexp.launchers.array_launcher
    import lnexp.launchers.command
    import lnexp.planning.step
    import lnexp.probing.command
    import lnexp.report.page
    import lnexp.report.run_rows
    import lnexp.reproduce
    import lnexp.results.write
    import lnexp.tasks.translation.translate_command
    import lnexp.tracking.sync_command
    import lnexp.training.engine
    import lnexp.training.run  # noqa: F401


@contextmanager
def as_before() -> Iterator[None]:
    """Undo what fairseq sets up for Hydra and for logs when it is imported.

    Raises:
        RuntimeError: where a thread is left, which a fork would not have.
    """
    stored, logs = ConfigStore.instance().repo, logging.getLogger()
    ConfigStore.instance().repo = {**stored}
    level = logs.level
    logging.disable(logging.INFO)
    yield
    logging.disable(logging.NOTSET)
    logs.handlers.clear()
    logs.setLevel(level)
    ConfigStore.instance().repo = stored
    if len(os.listdir("/proc/self/task")) > 1:
        raise RuntimeError(f"a fork would lack threads: {threading.enumerate()}")


def serve(requests: Connection) -> None:
    """Start a process for each command, and tell when one has ended; return in each of these processes.

    A request is a :class:`warm_commands.Command`, answered by the number of its process, or a process' number and
    whether to wait for its end, answered by its exit code, or None while it runs.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # it is for the command and for the tests
    while True:
        try:
            request = requests.recv()
        except EOFError:  # the tests are over
            os._exit(0)
        if isinstance(request, Command):
            process = os.fork()
            if process == 0:
                requests.close()
                signal.signal(signal.SIGINT, signal.default_int_handler)
                become(request)
                return
            requests.send(process)
        else:
            ended, status = os.waitpid(request[0], 0 if request[1] else os.WNOHANG)
            requests.send(os.waitstatus_to_exitcode(status) if ended else None)


def become(command: Command) -> None:
    """Give this process all that a command is started with."""
    if command.own_session:
        os.setsid()
    numpy.random.seed()  # Python seeds its own generator in a fork
    torch.seed()
    for number, (name, mode) in enumerate((("stdin", os.O_RDONLY), ("stdout", os.O_WRONLY), ("stderr", os.O_WRONLY))):
        file = os.open(command.streams / name, mode | os.O_APPEND)
        os.dup2(file, number)
        os.close(file)
    os.chdir(command.directory)
    os.environ.clear()
    os.environ.update(command.environment)
    sys.argv[:] = command.words
    added = [path for path in command.environment.get("PYTHONPATH", "").split(os.pathsep) if path]
    sys.path[:1] = [str(Path(command.words[0]).absolute().parent), *(path for path in added if path not in sys.path)]
    MEDIA_TMP._finalizer.detach()  # the end of the process removes wandb's temporary folder: take one of its own
    MEDIA_TMP.__init__("wandb-media")


if __name__ == "__main__":
    with as_before():
        import_libraries() if "--libraries" in sys.argv else import_what_commands_import()
    set_start_method("fork")  # of joblib's workers, which are warm then, too
    gc.freeze()
    serve(Connection(int(sys.argv[1])))
    runpy.run_path(sys.argv[0], run_name="__main__")
