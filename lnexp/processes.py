"""Set up processes: cores, threads, quick imports of fairseq, and workers that end with their parent."""

import gc
import logging
import multiprocessing
import os
import signal
import sys
import threading
import time
import warnings
from collections.abc import Iterator
from contextlib import contextmanager

#: Seconds between two checks of the parent.
INTERVAL = 0.2


def available_cores() -> int:
    """Return the number of cores that this process may run on."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def end_with_parent() -> None:
    """Start a thread that ends this process soon after its parent has ended, also where the parent was killed.

    Without it, the worker of a killed parent would wait for ever, or work on for nobody, and keep its locks.
    """
    started_by = multiprocessing.parent_process()  # None where another kind of launcher started this process
    parent = started_by.pid if started_by else os.getppid()  # getppid alone is too late where the parent has ended

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(INTERVAL)
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


def ignore_interrupts() -> None:
    """Leave Ctrl-C, which a terminal sends to all processes, to the parent, which then ends this one."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def hide_leaked_locks() -> None:
    """Silence the warning of the lock that fairseq makes when it is imported, for workers that are killed with a sweep.

    Python's resource tracker, a process that starts with the first worker, removes the lock, and warns of it.
    """
    ignored = "ignore:resource_tracker:UserWarning"
    os.environ["PYTHONWARNINGS"] = ",".join(filter(None, (os.environ.get("PYTHONWARNINGS"), ignored)))


def one_quiet_thread() -> None:
    """Use one thread, for equal numbers on every machine; silence fairseq's log and torch's warnings."""
    import torch

    logging.disable(logging.INFO)  # fairseq's log
    warnings.simplefilter("ignore")  # torch's warnings, as of pinned memory without a GPU
    torch.set_num_threads(1)


@contextmanager
def without_garbage_collection() -> Iterator[None]:
    """Import modules that need fairseq in this block, which takes seconds, with garbage collection off."""
    if "fairseq" in sys.modules:
        yield
        return
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        gc.enable()
