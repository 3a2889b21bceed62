"""Detect checkpoints whose config states a larger model than their parameters make."""

import re
from collections.abc import Collection, Iterator, Mapping
from typing import Any

import torch

from lnexp.inert import leaves

#: No model reads longer sequences.
MOST_POSITIONS = 2**16
#: A width that fills no memory, also where no parameter has it: a model without a decoder states one for it.
ORDINARY_WIDTH = 2**12
#: As many numbers in all layers fill none, either.
ORDINARY_NUMBERS = 2**27
#: How many names one parameter has at most: those of a tied embedding, and one to spare.
MOST_NAMES = 4
#: The sizes of a stack that decide how many numbers its layers have, with fairseq's defaults.
SIZES = {"layers": 6, "embed_dim": 512, "ffn_embed_dim": 2048}


def too_large(cfg: Mapping[str, Any], parameters: Mapping[str, Any], sides: Collection[str], bytes_of_file: int) -> str:
    """Return which size could fill a memory, of the parameters or of the model that a config states; empty for none.

    Args:
        cfg: of the checkpoint, in plain values.
        parameters: the model's, by name.
        sides: the stacks of layers that the model has.
        bytes_of_file: the size of the checkpoint.
    """
    tensors = {name: one for name, one in parameters.items() if isinstance(one, torch.Tensor)}
    if odd := next((name for name, one in tensors.items() if not _is_plain(one)), ""):
        return f"has the parameter {odd}, which is no plain tensor"
    if why := _beyond(cfg, tensors, len(parameters)):
        return why
    if sum(one.nbytes for one in tensors.values()) > MOST_NAMES * bytes_of_file:
        return "has parameters of more bytes than the file"
    return _numerous(cfg, tensors, sides)


def _is_plain(tensor: torch.Tensor) -> bool:
    """Return whether a tensor has its numbers in memory: one of another layout or device can state any size."""
    return (
        not tensor.is_nested
        and tensor.layout == torch.strided
        and tensor.device.type == "cpu"
        and not tensor.is_quantized
    )


def _beyond(cfg: Mapping[str, Any], tensors: Mapping[str, torch.Tensor], names: int) -> str:
    """Return which option of the model or the task is beyond the sizes of all parameters."""
    # others can state more than their memory holds
    held = (one for one in tensors.values() if one.is_contiguous() and one.numel())
    widest = max([ORDINARY_WIDTH, *(size for one in held for size in one.shape)])
    most = {"layers": names, "dim": widest, "heads": widest, "positions": MOST_POSITIONS}
    for part in ("model", "task"):
        for name, value in leaves(cfg[part], part):
            limit = most.get(re.split(r"[._]", name)[-1])
            if limit is not None and (size := _whole(value)) > limit:
                stated = size if size < TOO_MANY else "a huge number"
                return f"has {name}={stated}, more than the {limit} that its parameters allow"
    return ""


def _numerous(cfg: Mapping[str, Any], tensors: Mapping[str, torch.Tensor], sides: Collection[str]) -> str:
    """Return that the layers have more numbers than there are: each has the four matrices of attention, and the FFN."""
    there, stated = sum(one.numel() for one in tensors.values()), 0
    for side in sides:
        sizes = (max(_stated(cfg, f"{side}_{size}"), default=SIZES[size]) for size in SIZES)
        layers, width, inner = (max(0, size) for size in sizes)  # a negative one would hide another side's
        stated += layers * (4 * width**2 + 2 * width * inner)
    if stated <= max(there, ORDINARY_NUMBERS):
        return ""
    return f"states layers of {stated:.2g} numbers, more than the {there:,} of its parameters"


def _stated(cfg: Mapping[str, Any], option: str) -> Iterator[int]:
    """Yield the values of an option of the model, which fairseq takes flat or from the group of its side."""
    for name, value in leaves(cfg["model"]):
        if name.replace(".", "_") == option:
            yield _whole(value)


#: More than any limit; longer numbers are not printed.
TOO_MANY = 10**10


def _whole(value: Any) -> int:
    """Return a whole number, also one that is written as text; 0 for anything else."""
    if isinstance(value, str) and value.isdecimal():
        return int(value) if len(value) <= len(str(TOO_MANY)) else TOO_MANY
    return value if isinstance(value, int) else 0
