"""Recognise out-of-memory errors, and release GPU memory."""

import gc
from typing import Any

import torch


def is_out_of_memory(outcome: Any) -> bool:
    """Return whether an outcome is an out-of-memory error."""
    return isinstance(outcome, torch.OutOfMemoryError)


def release_memory() -> None:
    """Return memory that nothing refers to any more to the GPU."""
    gc.collect()
    torch.cuda.empty_cache()
