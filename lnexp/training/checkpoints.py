"""Average checkpoints."""

from collections.abc import Sequence
from pathlib import Path

import torch

from lnexp.safe_loading import load


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
