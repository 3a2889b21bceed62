"""Have oneDNN compute an update's products of fp32 matrices instead of MKL, where that is asked for and as exact.

On AMD's CPUs MKL keeps to AVX2. On those that compute 512 bits at once (Zen 5) oneDNN is up to 2.3 times as fast. torch
turns to oneDNN for fp32 only where that may compute in bf16 (:func:`torch.set_float32_matmul_precision`), which oneDNN
does on CPUs that have units for it, as Intel's AMX, and else not. So it is tried whether it does on this CPU.

Nobody gets it unasked, because its sums round differently: a run gives the numbers of another kind of CPU.
"""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from functools import cache

import torch

from lnexp.errors import UserError
from lnexp.runs.environment import instructions
from lnexp.torch_variables import MATMUL, asks_for_onednn

#: Returns the product of two matrices.
Multiply = Callable[[torch.Tensor, torch.Tensor], torch.Tensor]

#: The members, and the rows and columns of the factors that are tried, and the bits of their numbers.
MEMBERS, SIZE, BITS = 4, 128, 21


def products(cuda: bool) -> Callable[[], AbstractContextManager[None]]:
    """Return the context in which updates are made: by oneDNN where the variable :data:`MATMUL` is ``onednn``.

    Args:
        cuda: whether a GPU makes the updates. There the variable has no effect: it would have the GPU round to TF32.

    Raises:
        UserError: for another value of the variable, and where torch has no oneDNN for it, or one that is less exact.
    """
    if not asks_for_onednn() or cuda:
        return nullcontext
    if instructions() != "AVX512" or not torch.backends.mkldnn.is_available():
        raise UserError(f"{MATMUL}=onednn: on this CPU torch does not turn to oneDNN, which takes AVX-512; unset it")
    if not onednn_is_exact():
        raise UserError(f"{MATMUL}=onednn: computes products of fp32 in bf16 on this CPU; unset it")
    return by_onednn


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
def onednn_is_exact() -> bool:
    """Return whether oneDNN computes products of fp32 matrices in fp32.

    It is tried on matrices of whole numbers of 21 bits and a sign, multiplied by one with four entries of -1 or 1 in
    each row and column: every sum is a number of fp32, whatever the order of its terms. No narrower format holds all of
    the factors, and neither does the sum of two numbers of bf16.
    """
    drawn = torch.Generator().manual_seed(1)
    numbers = torch.randint(-(2**BITS), 2**BITS, (MEMBERS, SIZE, SIZE), generator=drawn)
    band = (torch.arange(SIZE)[:, None] - torch.arange(SIZE)) % SIZE < 4
    signs = band * (2 * torch.randint(0, 2, (MEMBERS, SIZE, SIZE), generator=drawn) - 1)
    pairs = [(numbers, signs), (signs, numbers), (numbers.mT, signs), (numbers, signs.mT)]
    return all(_is_exact(torch.bmm, *pair) and _is_exact(_with_bias, pair[0][0], pair[1][0]) for pair in pairs)


def _with_bias(left: torch.Tensor, right: torch.Tensor) -> torch.Tensor:
    return torch.addmm(torch.ones(SIZE, dtype=left.dtype), left, right)


def _is_exact(multiply: Multiply, left: torch.Tensor, right: torch.Tensor) -> bool:
    narrow = left.float(), right.float()
    with by_onednn():
        product = multiply(*narrow)
    return torch.equal(product.double(), multiply(left.double(), right.double()))
