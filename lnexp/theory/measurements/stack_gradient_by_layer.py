"""Appendix F: measure the gradients of every layer's FFN in the theory's Transformer."""

from lnexp.theory.by_layer import MATRICES
from lnexp.theory.gradients import gradient_norms
from lnexp.theory.measurement import Context, Row, register_measurement
from lnexp.theory.setting import Stack, loss_of_random_targets


@register_measurement
def stack_gradient_by_layer(
    context: Context, placement: str, layers: int, width: int, positions: int, inputs: int, words: int
) -> list[Row]:
    """Return ``‖∂L/∂W‖_F`` of both FFN matrices of every layer; the loss is the mean over positions and inputs.

    A row has ``layer`` (from 1), ``parameter`` (``W1`` or ``W2``) and ``grad_norm``. Inputs are Gaussian; targets are
    drawn from ``words`` words, whose embeddings have norm 1. The other arguments are those of
    :func:`~.hidden_norm.hidden_norm`.
    """
    return _gradients(Stack(placement, layers, width), positions, inputs, words)


@register_measurement
def decoder_stack_gradient_by_layer(
    context: Context, placement: str, layers: int, width: int, positions: int, inputs: int, words: int, sources: int
) -> list[Row]:
    """Return the rows of :func:`stack_gradient_by_layer` for layers of a decoder.

    A further column, ``source_variance``, has the variance of the output of the layer's attention to the source, which
    has so many positions (see :class:`lnexp.theory.setting.Stack`).
    """
    stack = Stack(placement, layers, width, sources)
    variances = stack.source_variances()
    rows = _gradients(stack, positions, inputs, words)
    return [row | {"source_variance": variances[row["layer"] - 1]} for row in rows]


def _gradients(stack: Stack, positions: int, inputs: int, words: int) -> list[Row]:
    """Return the rows of :func:`stack_gradient_by_layer` for a stack."""
    names = {
        f"layers.{layer}.{module}.weight": {"layer": layer + 1, "parameter": matrix}
        for matrix, module in MATRICES.items()
        for layer in range(len(stack.layers))
    }
    loss = loss_of_random_targets(stack, positions, inputs, words, std=stack.width**-0.5)
    norms = gradient_norms(stack, list(names), [loss])
    return [where | {"grad_norm": norms[name].expected} for name, where in names.items()]
