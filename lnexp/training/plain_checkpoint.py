"""Load checkpoints of tensors and plain values; refuse any that would run code."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from pickle import UnpicklingError
from typing import Any

from fairseq import checkpoint_utils

from lnexp.errors import UserError


@contextmanager
def only_plain_values(path: Path | None) -> Iterator[None]:
    """Turn torch's refusal of a checkpoint, which loads tensors and plain values alone, into one line.

    Raises:
        UserError: where the checkpoint holds anything else. No code of it was run.
    """
    try:
        yield
    except UnpicklingError as error:
        what = "holds more than tensors and plain values, and is not loaded"
        raise UserError(f"{path}: {what}; force=true trains the run afresh") from error


def load(path: Path) -> dict[str, Any]:
    """Return the state in a checkpoint of fairseq's, on the CPU. Raises UserError as :func:`only_plain_values` does."""
    with only_plain_values(path):
        return checkpoint_utils.load_checkpoint_to_cpu(str(path))
