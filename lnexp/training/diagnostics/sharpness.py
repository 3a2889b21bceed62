"""Measure the sharpness of the loss: how strongly it curves along the direction in which it curves most."""

from collections.abc import Callable

import torch
from torch import Tensor
from torch.nn.attention import SDPBackend, sdpa_kernel

from lnexp.training.diagnostic import Diagnostic, Watched, register_diagnostic
from lnexp.training.evaluating import evaluating

#: Returns the product of each member's Hessian and direction, both ``(S, parameters)``.
Product = Callable[[Tensor], Tensor]


@register_diagnostic
class Sharpness(Diagnostic):
    """``sharpness.loss``: the largest eigenvalue of the Hessian of the mean loss a token, in nats, before the update.

    It is of one minibatch, the same at every snapshot, without dropout. Gradient descent of rate η cannot settle where
    it exceeds 2/η (Cohen et al. 2021, arXiv 2103.00065, section 2); Gilmer et al. 2021 (arXiv 2110.04369) see warm-up
    as what lowers it before the rate is high. For Adam the Hessian counts in units of its second moment (Cohen et al.
    2022, arXiv 2207.14484), which this is not.

    It is found by the method of Lanczos from a fixed random direction, with as many products of the Hessian and a
    direction as the option ``diagnostics.sharpness`` says: too few give too small a value. Power iteration would end at
    the eigenvalue of the largest size, which before training may be a negative one. A single run in half precision has
    none; an array, whose parameters are in fp32, has it of bf16's computation. There is none with ``norm=scale_norm``:
    the length of padding's zeros cannot be differentiated twice.
    """

    def __init__(self, watched: Watched):
        super().__init__(watched)
        self._parameters = [one for one in watched.model.parameters() if one.requires_grad]
        self._found: dict[str, Tensor] = {}

    def begin(self) -> None:
        self._found = {}
        if self.watched.products and all(one.dtype == torch.float32 for one in self._parameters):
            watched = self.watched
            # the kernel that can be differentiated twice
            with evaluating(watched.model, watched.criterion), sdpa_kernel(SDPBackend.MATH):
                gradient = self._gradient()
                size = gradient.size(1)
                start = torch.randn(1, size, generator=torch.Generator().manual_seed(0)).to(gradient.device)
                found = largest_eigenvalue(
                    self._product_with(gradient), start.expand_as(gradient), self.watched.products
                )
            self._found = {"sharpness.loss": found}

    def end(self) -> dict[str, Tensor]:
        found, self._found = self._found, {}
        return found

    def _gradient(self) -> Tensor:
        """Return the gradient of the mean loss a token, a row a member, to be differentiated again."""
        loss, tokens, _ = self.watched.criterion(self.watched.model, self.watched.fixed_batch())
        return self._flat(
            torch.autograd.grad(loss / tokens, self._parameters, create_graph=True, materialize_grads=True)
        )

    def _product_with(self, gradient: Tensor) -> Product:
        """Return what multiplies with the Hessian: the gradient of ``gradient · direction`` (Pearlmutter 1994).

        Members do not meet in a loss, so that the sum of theirs does for all of them.
        """

        def product(direction: Tensor) -> Tensor:
            along = (gradient * direction).sum()
            return self._flat(
                torch.autograd.grad(
                    along, self._parameters, retain_graph=True, allow_unused=True, materialize_grads=True
                )
            )

        return product

    def _flat(self, of_parameters: tuple[Tensor, ...]) -> Tensor:
        return torch.cat([one.reshape(self.watched.members, -1) for one in of_parameters], dim=1)


def largest_eigenvalue(product: Product, start: Tensor, count: int) -> Tensor:
    """Return the largest eigenvalue of each of S symmetric matrices, ``(S,)``, by the method of Lanczos.

    It is that of the matrix restricted to the span of the start and its next images. All directions are kept, and each
    new one is made orthogonal to them, which rounding would undo.

    Args:
        product: multiplies with the matrices.
        start: a direction for each, ``(S, n)``.
        count: how many products are taken.

    Returns:
        The eigenvalues in double precision; NaN for a matrix that is not finite.
    """
    directions: list[Tensor] = []
    restricted = start.new_zeros(len(start), count, count, dtype=torch.float64)
    direction = start
    for number in range(count):
        directions.append(torch.nn.functional.normalize(direction, dim=1))
        direction = product(directions[-1])
        for other, earlier in enumerate(directions):
            restricted[:, other, number] = restricted[:, number, other] = _dot(earlier, direction)
        for earlier in (*directions, *directions):  # twice, for what rounding leaves at first
            direction = direction - _dot(earlier, direction).to(direction).unsqueeze(1) * earlier
    finite = restricted.isfinite().all(dim=2).all(dim=1)
    found = torch.linalg.eigvalsh(restricted.nan_to_num(0, 0, 0))[:, -1]
    return found.masked_fill(~finite, torch.nan)


def _dot(one: Tensor, other: Tensor) -> Tensor:
    """Return the products of rows, ``(S,)``, in double precision."""
    return (one * other).sum(dim=1, dtype=torch.float64)
