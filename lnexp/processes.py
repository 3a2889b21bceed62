"""Count the available cores, and make worker processes end with their parent."""

import os
import threading
import time

#: Seconds between two checks of the parent.
INTERVAL = 0.2


def available_cores() -> int:
    """Return the number of cores that this process may run on."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def end_with_parent() -> None:
    """Start a thread that ends this process soon after its parent has ended, also where the parent was killed.

    Without it, the worker of a killed parent would wait for ever, or work on for nobody, and keep its locks.
    """
    parent = os.getppid()

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(INTERVAL)
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()
