"""Recognise out-of-memory errors, release GPU memory, and keep that of the CPU."""

import ctypes
import gc
import os
from typing import Any

import torch

#: Options of mallopt(3) and their values in bytes: how much has to be free before any is given back, and from which
#: size on a block is given back at once; it takes no greater one.
M_TRIM_THRESHOLD, M_MMAP_THRESHOLD = -1, -3
KEEPING = {M_TRIM_THRESHOLD: 1 << 30, M_MMAP_THRESHOLD: 32 << 20}
#: Variables of the environment that say such things.
SAID_BY = ("MALLOC_TRIM_THRESHOLD_", "MALLOC_MMAP_THRESHOLD_", "GLIBC_TUNABLES")


def keep_freed_memory() -> None:
    """Have glibc keep freed memory until more than 1 GiB is free: an update frees what the next one takes again.

    At profile ``medium`` 8,000 pages an update came from the system before. Without effect where the environment says
    what to keep, and with another C library.
    """
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    if mallopt is not None and not any(name in os.environ for name in SAID_BY):
        for option, value in KEEPING.items():
            mallopt(option, value)


def is_out_of_memory(outcome: Any) -> bool:
    """Return whether an outcome is an out-of-memory error."""
    return isinstance(outcome, torch.OutOfMemoryError)


def release_memory() -> None:
    """Return memory that nothing refers to any more to the GPU."""
    gc.collect()
    torch.cuda.empty_cache()
