"""A checkpoint is data: one that would run code is not loaded."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from pickle import UnpicklingError
from typing import Any

from fairseq import checkpoint_utils

from lnexp.errors import UserError


@contextmanager
def only_plain_values(path: Path | None) -> Iterator[None]:
    """Say in one line that torch, which loads tensors and plain values alone, did not load a checkpoint.

    Raises:
        UserError: where it holds anything else; nothing of it was run.
    """
    try:
        yield
    except UnpicklingError as error:
        what = "holds more than tensors and plain values, and is not loaded"
        raise UserError(f"{path}: {what}; force=true trains the run afresh") from error


def load(path: Path) -> dict[str, Any]:
    """fairseq's state of a checkpoint, on the CPU. Raises UserError as :func:`only_plain_values` does."""
    with only_plain_values(path):
        return checkpoint_utils.load_checkpoint_to_cpu(str(path))
