"""Load checkpoints of tensors and plain values, refuse any that would run code, and average several."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from pickle import UnpicklingError
from typing import Any

import torch
from fairseq import checkpoint_utils

from lnexp.errors import UserError


@contextmanager
def only_plain_values(path: Path | str | None) -> Iterator[None]:
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


def averaged_model(paths: Sequence[Path]) -> dict[str, torch.Tensor]:
    """Return the mean of every parameter over checkpoints (Vaswani et al. 2017, section 6.1).

    Tensors of integers are those of the last checkpoint.

    Args:
        paths: at least one checkpoint, oldest first; they are read one by one.

    Returns:
        The state of a model; shapes and types are those of the checkpoints.
    """
    sums: dict[str, torch.Tensor] = {}
    for path in paths:
        last = load(path)["model"]
        for name, tensor in last.items():
            if tensor.is_floating_point():
                sums[name] = sums.get(name, 0.0) + tensor.double()
    return last | {name: (total / len(paths)).to(last[name].dtype) for name, total in sums.items()}
