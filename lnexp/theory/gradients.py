"""Measure the gradient norms of named parameters over minibatches, as in the paper's Fig. 3."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from lnexp.errors import UserError, near_names


@dataclass(frozen=True)
class GradientNorm:
    """Frobenius norms of one parameter's gradient. The loss is the mean over tokens; nothing is clipped.

    Attributes:
        expected: ``‖E[∂L/∂W]‖_F``, the norm of the mean gradient over minibatches, which the paper plots
            (section 3.4).
        mean: ``E‖∂L/∂W‖_F``, the mean of the minibatches' norms, which is larger because of their noise.
    """

    expected: float
    mean: float


def gradient_norms(model: nn.Module, names: Sequence[str], losses: Iterable[Tensor]) -> dict[str, GradientNorm]:
    """Return the gradient norms of the named parameters.

    Args:
        model: the model that has the parameters.
        names: as in ``named_parameters``, for instance ``encoder.layers.0.fc2.weight``.
        losses: the minibatches' losses, computed one after another, so that only one graph is held at a time.

    Raises:
        UserError: for a parameter that the model does not have or that a loss does not depend on, or where there is no
            loss.
    """
    known = dict(model.named_parameters())
    for name in names:
        if name not in known:
            raise UserError(f"{name}: the model has no such parameter; {near_names(name, known)}")
    parameters = [known[name] for name in names]
    sums = [torch.zeros_like(parameter, dtype=torch.float64) for parameter in parameters]
    norms = [0.0] * len(names)
    count = 0
    for loss in losses:
        gradients = torch.autograd.grad(loss, parameters, allow_unused=True)
        for number, gradient in enumerate(gradients):
            if gradient is None:
                raise UserError(f"{names[number]}: the loss does not depend on it")
            sums[number] += gradient
            norms[number] += float(gradient.double().norm())
        count += 1
    if not count:
        raise UserError("no minibatch to take a gradient of")
    return {
        name: GradientNorm(float(total.norm()) / count, norm / count)
        for name, total, norm in zip(names, sums, norms, strict=True)
    }
