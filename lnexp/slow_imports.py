"""Import fairseq, which takes seconds, without a vain search for garbage meanwhile."""

import gc
import sys
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def without_garbage_collection() -> Iterator[None]:
    """Import modules that need fairseq in this block; what they leave is never searched for garbage again."""
    if "fairseq" in sys.modules:
        yield
        return
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        gc.enable()
