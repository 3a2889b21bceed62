"""Have oneDNN compute an update's products of fp32 matrices where MKL is slow at them and oneDNN is as exact.

On AMD's CPUs MKL keeps to AVX2; with AVX-512 oneDNN is up to 2.3 times as fast. torch turns to oneDNN for fp32 only
where that may compute in bf16 (:func:`torch.set_float32_matmul_precision`), which oneDNN does on CPUs that have units
for it, as Intel's AMX, and else not. So it is tried on this CPU whether it does.
"""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from functools import cache

import torch

from lnexp.runs.environment import cpu_name, instructions

#: From which width on oneDNN pays, that of all members of an array together. A call costs more than MKL's, a kernel for
#: each new shape of a batch some tenths of a millisecond, and the kernels of a process up to 1.1 GiB: one run of width
#: 64 loses 3%, one of 96 gains 6% by them, two runs of 64 gain 10%, eight 26%, four of 96 27%.
WIDE = 128


def products(width: int, cuda: bool) -> Callable[[], AbstractContextManager[None]]:
    """Return within what the updates of a model are to be made.

    Args:
        width: of the hidden states; of an array, that of all its members together.
        cuda: whether a GPU makes them, which would then round to TF32.
    """
    return by_onednn if width >= WIDE and not cuda and _onednn_is_better() else nullcontext


@contextmanager
def by_onednn() -> Iterator[None]:
    """Have oneDNN compute products of fp32 matrices, in the precision that it chooses; MKL does so after that."""
    before = torch.get_float32_matmul_precision()
    torch.set_float32_matmul_precision("medium")
    try:
        yield
    finally:
        torch.set_float32_matmul_precision(before)


@cache
def _onednn_is_better() -> bool:
    """Return whether on this CPU oneDNN is faster than MKL, and as exact."""
    return cpu_name().startswith("AMD") and instructions() == "AVX512" and onednn_is_exact()


def onednn_is_exact() -> bool:
    """Return whether oneDNN computes products of fp32 matrices in fp32.

    Those tried are of whole numbers of 17 bits by -1, 0 and 1: every sum is a number of fp32, whatever the order of its
    terms, and no narrower format has all of the factors.
    """
    drawn = torch.Generator().manual_seed(1)
    wide = torch.randint(-(2**17), 2**17, (8, 128, 64), generator=drawn)
    signs = torch.randint(-1, 2, (8, 64, 128), generator=drawn)
    return all(_is_exact(*factors) for factors in ((wide, signs), (signs, wide), (wide[0], signs[0])))


def _is_exact(left: torch.Tensor, right: torch.Tensor) -> bool:
    with by_onednn():
        product = left.float() @ right.float()
    return torch.equal(product, (left @ right).float())
