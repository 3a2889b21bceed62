"""The GPU's memory."""

import gc
from typing import Any

import torch


def is_out_of_memory(outcome: Any) -> bool:
    """Whether something failed for want of memory."""
    return isinstance(outcome, torch.OutOfMemoryError)


def release_memory() -> None:
    """Give back what nobody refers to any more."""
    gc.collect()
    torch.cuda.empty_cache()
