"""Run commands as forks of this process, which has imported what they import: the servers of warm_commands.py.

A fork runs its command and ends as the interpreter would end it, but for what the interpreter destroys last: modules
and all that they hold, a copy of every page of which would take half a second.
"""

import atexit
import ctypes
import gc
import importlib
import io
import json
import logging
import os
import resource
import runpy
import selectors
import shutil
import signal
import socket
import sys
import threading
import time
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import partial, partialmethod
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any, NoReturn, TextIO

import numpy
import torch
from hydra._internal.hydra import Hydra
from hydra.core.config_store import ConfigStore
from hydra.types import RunMode
from joblib.externals.loky.backend.context import set_start_method
from no_disk import wait_for_no_disk
from wandb.sdk.data_types._private import MEDIA_TMP

#: Libraries that take time, wherever the project lies: the first optimizer asks for torch._dynamo.
LIBRARIES = (
    "fairseq_cli.train",
    "hydra.main",
    "matplotlib.figure",
    "pandas",
    "sacrebleu",
    "submitit.core.submission",
    "torch._dynamo",
    "torch.distributed.run",
)
#: The exit code where standard output cannot be flushed at the end.
EXIT_NOT_FLUSHED = 120
#: Of ``malloc.h``.
M_MMAP_THRESHOLD = -3
#: The longest request, which has the environment.
LONGEST = 2**18


def import_libraries() -> None:
    """Import the libraries that take time."""
    for library in LIBRARIES:
        importlib.import_module(library)


def import_ours() -> None:
    """Import what of ours takes time, and what it imports."""
    import lnexp.commands.prepare_data
    import lnexp.commands.probe
    import lnexp.commands.reproduce
    import lnexp.commands.tokenize_text
    import lnexp.commands.train
    import lnexp.commands.translate
    import lnexp.commands.verify
    import lnexp.commands.wandb_sync
    import lnexp.figures.folder
    import lnexp.launchers.array_launcher
    import lnexp.planning.step
    import lnexp.report.page
    import lnexp.report.run_rows
    import lnexp.results.verifying.judge_again
    import lnexp.results.writing.write
    import lnexp.training.engine
    import lnexp.training.run  # noqa: F401
    from lnexp.configuration import compose
    from lnexp.runs.code import digests

    # parsers and caches: runs read the same configs, composed once for a choice of files, and depend on the same code
    digests(compose(["model=pre_ln", "lr_max=1e-3", "+arm=none", "probes.every=1"]))
    for files in (
        [],
        ["tracker=none"],
        ["profile=small"],
        ["tracker=none", "model=pre_ln"],
        ["tracker=none", "model=admin"],
        ["task=masked_lm", "data=toy", "tracker=none"],
        ["task=sentence_pairs", "data=bert_toy", "tracker=none"],
    ):
        compose(files)
    Hydra.get_mode = partialmethod(mode_of_words, otherwise=Hydra.get_mode)


def mode_of_words(
    hydra: Hydra, config_name: str | None, overrides: list[str], otherwise: Callable[..., RunMode | None]
) -> RunMode | None:
    """Return ``hydra.mode`` without composing a config for it, as Hydra does twice: no file of ours sets it."""
    return otherwise(hydra, config_name, overrides) if any("hydra.mode" in word for word in overrides) else None


@contextmanager
def as_before() -> Iterator[None]:
    """Undo what fairseq sets up for logs when it is imported.

    Raises:
        RuntimeError: where a thread is left, which a fork would not have.
    """
    logs = logging.getLogger()
    level = logs.level
    logging.disable(logging.INFO)
    yield
    logging.disable(logging.NOTSET)
    logs.handlers.clear()
    logs.setLevel(level)
    if len(os.listdir("/proc/self/task")) > 1:
        raise RuntimeError(f"a fork would lack threads: {threading.enumerate()}")


class Server:
    """Starts a process for each command that a client sends, and tells the client when it has ended.

    A request is JSON, see warm_commands.py and warm_python.py, with three open files for the standard streams. The
    answers are the number of the process, and later its exit code. The server ends with its last client.

    Args:
        listener: the socket where clients are accepted.
    """

    def __init__(self, listener: socket.socket):
        self._listener = listener
        self._selector = selectors.DefaultSelector()
        self._selector.register(listener, selectors.EVENT_READ, self._accept)
        self._clients: set[socket.socket] = set()
        #: By client, a handle of the process that ends with it.
        self._bound: dict[socket.socket, int] = {}

    def serve(self) -> dict[str, Any] | None:
        """Serve, and return the request in each process that is started; None when all clients have gone."""
        while True:
            for key, _ in self._selector.select():
                if (request := key.data()) is not None:
                    return request
            if not self._clients:
                return None

    def _accept(self) -> None:
        client, _ = self._listener.accept()
        self._clients.add(client)
        self._selector.register(client, selectors.EVENT_READ, partial(self._receive, client))

    def _receive(self, client: socket.socket) -> dict[str, Any] | None:
        """Start the process that a client asks for, and return the request in it; or let a client go."""
        message, streams = b"", []
        with suppress(ConnectionResetError):  # the client has gone, and has not read an answer
            message, streams, *_ = socket.recv_fds(client, LONGEST, 3)
        if not message:
            self._let_go(client)
            return None
        request = json.loads(message)
        pid = os.fork()
        if not pid:
            self._leave(streams)
            return request
        for stream in streams:
            os.close(stream)
        with suppress(OSError):  # the client has gone
            client.send(str(pid).encode())
        process = os.pidfd_open(pid)
        self._selector.register(process, selectors.EVENT_READ, partial(self._tell, client, pid, process))
        if "in_place_of" in request:
            self._bound[client] = process
        return None

    def _leave(self, streams: list[int]) -> None:
        """Close what is the server's, in a process of its own, and take the three standard streams."""
        for key in list(self._selector.get_map().values()):
            os.close(key.fd)
        self._selector.close()
        for number, stream in enumerate(streams):
            os.dup2(stream, number)
            os.close(stream)

    def _tell(self, client: socket.socket, pid: int, process: int) -> None:
        """Tell a client the exit code of its process, which has ended."""
        _, status = os.waitpid(pid, 0)
        self._bound.pop(client, None)
        self._selector.unregister(process)
        os.close(process)
        with suppress(OSError):  # the client has gone
            client.send(str(os.waitstatus_to_exitcode(status)).encode())

    def _let_go(self, client: socket.socket) -> None:
        if client in self._bound:  # it was killed
            signal.pidfd_send_signal(self._bound[client], signal.SIGKILL)
        self._selector.unregister(client)
        self._clients.remove(client)
        client.close()


def become(request: dict[str, Any], executable: str) -> None:
    """Give this process all that a command is started with, but for its arguments and its path of modules.

    Args:
        request: see :class:`Server`.
        executable: the interpreter that the command may start.
    """
    if request["own_session"]:
        os.setsid()
    if request["largest_file"] is not None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (request["largest_file"],) * 2)
        from fairseq import checkpoint_utils

        # fairseq writes what is too large three times, and waits for seconds between
        checkpoint_utils.time = SimpleNamespace(time=time.time, sleep=lambda seconds: None)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    for number in request.get("ignored", ()):
        signal.signal(number, signal.SIG_IGN)
    if "in_place_of" in request:
        take_the_number_of(request["in_place_of"])
    if threshold := request["environment"].get("MALLOC_MMAP_THRESHOLD_"):
        ctypes.CDLL(None).mallopt(M_MMAP_THRESHOLD, int(threshold))
    open_streams()
    numpy.random.seed()  # Python seeds its own generator in a fork
    torch.seed()
    os.chdir(request["directory"])
    os.environ.clear()
    os.environ.update(request["environment"])
    sys.executable = executable
    MEDIA_TMP._finalizer.detach()  # the end of the process removes wandb's temporary folder: take one of its own
    MEDIA_TMP.__init__("wandb-media")


def open_streams() -> None:
    """Make Python's standard streams anew, as it does when it starts: what they are depends on what is behind them."""
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        before = getattr(sys, name)
        by_lines = name == "stderr" or (name == "stdout" and os.isatty(number))
        if number:  # -u and PYTHONUNBUFFERED write through
            binary = open(number, "wb", 0 if before.write_through else -1, closefd=False)  # noqa: SIM115
        else:
            binary = open(number, "rb", closefd=False)  # noqa: SIM115  (they stay open)
        stream = io.TextIOWrapper(
            binary, before.encoding, before.errors, line_buffering=by_lines, write_through=before.write_through
        )
        setattr(sys, name, stream)
        setattr(sys, f"__{name}__", stream)


def take_the_number_of(stands_for: int) -> None:
    """Have this process go by the number of the one that it runs in place of, and by that one's parent's."""
    own, getpid, getppid = os.getpid(), os.getpid, os.getppid
    os.getpid = lambda: stands_for if getpid() == own else getpid()
    os.getppid = lambda: parent_of(stands_for) if getpid() == own else stands_for if getppid() == own else getppid()


def parent_of(pid: int) -> int:
    """Return the number of the parent of a process; that of the first process where it has gone."""
    try:
        return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])
    except OSError:
        return 1


def run(words: list[str], with_fairseqs: dict[str, Any]) -> None:
    """Run what ``python WORDS`` runs.

    Args:
        words: ``SCRIPT …``, ``-m MODULE …`` or ``-c CODE …``; ``-u`` and ``-W ignore`` before them change nothing.
        with_fairseqs: what is in Hydra's store once fairseq is imported, for modules, which import it at once; our
            scripts compose before.
    """
    while words[0] in ("-u", "-W"):
        words = words[2:] if words[0] == "-W" else words[1:]
    first = {"-m": os.getcwd(), "-c": ""}.get(words[0], os.path.dirname(os.path.abspath(words[0])))
    added = [path for path in os.environ.get("PYTHONPATH", "").split(os.pathsep) if path]
    sys.path[:1] = [first, *(path for path in added if path not in sys.path)]
    sys.argv[:] = words[1:] if words[0] == "-m" else words
    if words[0] == "-m":
        ConfigStore.instance().repo = with_fairseqs
        runpy.run_module(words[1], run_name="__main__", alter_sys=True)
    elif words[0] == "-c":
        del sys.argv[1]
        sys.modules["__main__"] = ModuleType("__main__")
        exec(words[1], vars(sys.modules["__main__"]))
    else:
        runpy.run_path(words[0], run_name="__main__")


def end_after(run: Callable[[], None]) -> NoReturn:
    """Run a command, and end this process as the interpreter would, up to where it destroys modules."""
    code = 0
    try:
        run()
    except SystemExit as end:
        code = _code_of(end)
    except BaseException as error:
        sys.excepthook(type(error), error, error.__traceback__)
        code = -signal.SIGINT if isinstance(error, KeyboardInterrupt) else 1
    threading._shutdown()
    atexit._run_exitfuncs()
    flushed = [_flush(stream) for stream in (sys.stdout, sys.stderr)]
    if code == -signal.SIGINT:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        signal.raise_signal(signal.SIGINT)
    os._exit(code if all(flushed) else EXIT_NOT_FLUSHED)


def _code_of(end: SystemExit) -> int:
    if end.code is None or isinstance(end.code, int):
        return end.code or 0
    print(end.code, file=sys.stderr)
    return 1


def _flush(stream: TextIO | None) -> bool:
    """Write what a stream holds, and return whether this was possible."""
    try:
        if stream and not stream.closed:
            stream.flush()
    except (OSError, ValueError):
        traceback.print_exc()
        return False
    return True


def main() -> None:
    """Serve at two sockets, given by number: in this process with libraries alone, in a fork of it also with ours."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # it is for the commands and for the tests
    wait_for_no_disk()
    set_start_method("fork")  # of joblib's workers, which are warm then, too
    store = ConfigStore.instance()
    as_it_was, store.repo = store.repo, {**store.repo}
    libraries, ours = (socket.socket(fileno=int(number)) for number in sys.argv[1:])
    with as_before():
        import_libraries()
    if second := os.fork():
        ours.close()
        served = libraries
    else:
        libraries.close()
        served = ours
        with as_before():
            import_ours()
    with_fairseqs, store.repo = store.repo, as_it_was
    gc.freeze()
    executable = Path(served.getsockname()).with_name("python3")
    request = Server(served).serve()
    if request is not None:
        become(request, str(executable))
        end_after(partial(run, request["words"], with_fairseqs))
    if second:
        os.waitpid(second, 0)
        shutil.rmtree(executable.parents[1])


if __name__ == "__main__":
    main()
