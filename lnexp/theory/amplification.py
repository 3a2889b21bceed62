"""Measure how much a small change of an encoder's weights changes its output (Liu et al. 2020)."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor, nn

from lnexp.theory.models import ProbedModel, kept_positions, loss_of

#: A change of each weight of a model, by the parameter's name.
Changes = dict[str, Tensor]


def encoder_matrices(model: nn.Module) -> dict[str, nn.Parameter]:
    """Return the matrices of all layers of a model's encoder by name; no biases, norms or embeddings."""
    return {
        name: weight
        for name, weight in model.named_parameters()
        if name.startswith("encoder.layers.") and weight.dim() == 2
    }


def random_signs(model: nn.Module) -> Changes:
    """Return ±1 for each weight of the encoder's matrices, drawn from torch's generator."""
    return {name: torch.randn_like(weight).sign() for name, weight in encoder_matrices(model).items()}


def against_the_gradient(probed: ProbedModel) -> Changes:
    """Return ``−sign(∂L/∂w)`` for each weight of the encoder's matrices: Adam's first update at a rate of 1.

    L is the loss of the whole model, the mean over its minibatches; a weight that it does not depend on has 0.
    """
    matrices = encoder_matrices(probed.model)
    total = {name: torch.zeros_like(weight) for name, weight in matrices.items()}
    for batch in probed.batches:
        gradients = torch.autograd.grad(loss_of(probed, batch), list(matrices.values()), allow_unused=True)
        for name, gradient in zip(matrices, gradients, strict=True):
            if gradient is not None:
                total[name] += gradient
    return {name: -gradient.sign() for name, gradient in total.items()}


@torch.no_grad()
def gain(probed: ProbedModel, changes: Changes, size: float) -> float:
    """Return ``E‖F(x, W + δ) − F(x, W)‖² / (d s²)``, the output's squared change a squared change of a weight.

    F is the output of the encoder, without dropout. E is the mean over all positions of all minibatches, padding left
    out. Liu et al. 2020 (section 4, Fig. 4) plot the same for weights of which each changes by 1e-4, its sign drawn at
    random, but summed over positions; d and s are constants there. Their code (Transformer-Clinic) takes the output of
    the last layer, before the final LayerNorm that Pre-LN has; here F is behind it. The gain has no unit.

    Args:
        probed: a model with an encoder, in evaluation mode.
        changes: δ/s, numbers of size 1 or 0.
        size: s, so small that the output changes in proportion to it.
    """
    before = _outputs(probed)
    with _changed(probed.model, changes, size):
        after = _outputs(probed)
    return float((after.double() - before.double()).square().mean()) / size**2


def _outputs(probed: ProbedModel) -> Tensor:
    """Return the encoder's output at all positions of all minibatches, ``(positions, d)``."""
    return torch.cat([_output(probed.model, batch["net_input"]) for batch in probed.batches])


def _output(model: Any, net_input: dict[str, Any]) -> Tensor:
    (hidden,) = model.encoder(net_input["src_tokens"], net_input["src_lengths"])["encoder_out"]
    return hidden[kept_positions(model, net_input)["encoder"]]


@contextmanager
def _changed(model: nn.Module, changes: Changes, size: float) -> Iterator[None]:
    """Change weights within the ``with`` block, and put back the very numbers at its end."""
    parameters = dict(model.named_parameters())
    there = {name: parameters[name].clone() for name in changes}
    try:
        for name, change in changes.items():
            parameters[name].add_(change, alpha=size)
        yield
    finally:
        for name, weight in there.items():
            parameters[name].copy_(weight)
