"""Reach the parameters in fp32 that fairseq's optimizers of half precision step, and write back at every update."""

from typing import Any

import torch
from torch import Tensor


def fp32_copies(optimizer: Any) -> list[Tensor]:
    """Return the parameters in fp32 as an optimizer holds them: matrix by matrix, or flat; none of one in fp32."""
    return _listed(getattr(optimizer, "fp32_params", []))


@torch.no_grad()
def copy_to_fp32(optimizer: Any) -> None:
    """Copy the parameters of the model as they are now into an optimizer's copies, which were made before."""
    copies = fp32_copies(optimizer)
    if copies:
        now = optimizer.build_fp32_params(None, optimizer.fp16_params, flatten=optimizer.has_flat_params)
        restore_fp32(optimizer, _listed(now))


@torch.no_grad()
def restore_fp32(optimizer: Any, saved: list[Tensor]) -> None:
    """Copy saved parameters in fp32, in the order of :func:`fp32_copies`, into an optimizer.

    Raises:
        ValueError: for others than it has.
    """
    for copy, one in zip(fp32_copies(optimizer), saved, strict=True):
        if copy.shape != one.shape:  # of which copy_ would repeat a row or a number
            raise ValueError(f"its fp32_parameters are {tuple(one.shape)}, not {tuple(copy.shape)}")
        copy.copy_(one)


def _listed(held: Any) -> list[Tensor]:
    """Return what fairseq holds: a list by matrix, or flat, a tensor or one for each device."""
    if torch.is_tensor(held):
        return [held.detach()]
    return [one.detach() for one in (held.values() if isinstance(held, dict) else held)]
