"""Recognise out-of-memory errors, release GPU memory, and keep that of the CPU."""

import ctypes
import gc
import os
from typing import Any

import torch

#: What glibc is told, by the variable of the environment that says it, too: mallopt's option and its value in bytes.
KEEPING = {"MALLOC_TRIM_THRESHOLD_": (-1, 1 << 30), "MALLOC_MMAP_THRESHOLD_": (-3, 32 << 20)}


def keep_freed_memory() -> None:
    """Have glibc keep freed memory for the next update, up to 1 GiB, which takes less time than to ask for it again.

    An update frees nearly all that it has taken. Without effect where the environment says what to keep, and with
    another C library.
    """
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    if mallopt is not None and not any(name in os.environ for name in KEEPING):
        for option, value in KEEPING.values():
            mallopt(option, value)


def is_out_of_memory(outcome: Any) -> bool:
    """Return whether an outcome is an out-of-memory error."""
    return isinstance(outcome, torch.OutOfMemoryError)


def release_memory() -> None:
    """Return memory that nothing refers to any more to the GPU."""
    gc.collect()
    torch.cuda.empty_cache()
