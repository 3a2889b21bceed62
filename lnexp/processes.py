"""How many processes may work, and that they end with the process that they work for."""

import os
import threading
import time

SECONDS = 0.2


def available_cores() -> int:
    """The cores this process may run on."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def end_with_parent() -> None:
    """End this process soon after its parent, however that ends.

    A worker whose parent was killed would wait for work for ever, or go on with work that nobody waits for, and hold
    what locks it has.
    """
    parent = os.getppid()

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(SECONDS)
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()
