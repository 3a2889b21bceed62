"""Appendix F: measure the gradients of every layer's FFN in the theory's Transformer."""

from lnexp.theory.by_layer import MATRICES
from lnexp.theory.gradients import gradient_norms
from lnexp.theory.measurement import Context, Row, register_measurement
from lnexp.theory.setting import Stack, loss_of_random_targets


@register_measurement
def stack_gradient_by_layer(
    context: Context, placement: str, layers: int, width: int, positions: int, inputs: int, words: int, sources: int = 0
) -> list[Row]:
    """Return ``‖∂L/∂W‖_F`` of both FFN matrices of every layer; the loss is the mean over positions and inputs.

    A row has ``layer`` (from 1), ``parameter`` (``W1`` or ``W2``) and ``grad_norm``; with ``sources`` also
    ``source_variance``, that of the output of the layer's attention to the source. Inputs are Gaussian; targets are
    drawn from ``words`` words, whose embeddings have norm 1. The other arguments are those of
    :func:`~.hidden_norm.hidden_norm` and of :class:`lnexp.theory.setting.Stack`.
    """
    stack = Stack(placement, layers, width, sources)
    names: dict[str, Row] = {
        f"layers.{layer}.{module}.weight": {"layer": layer + 1, "parameter": matrix}
        for matrix, module in MATRICES.items()
        for layer in range(layers)
    }
    loss = loss_of_random_targets(stack, positions, inputs, words, std=width**-0.5)
    norms = gradient_norms(stack, list(names), [loss])
    rows = [where | {"grad_norm": norms[name].expected} for name, where in names.items()]
    if not sources:
        return rows
    variances = stack.source_variances()
    return [row | {"source_variance": variances[row["layer"] - 1]} for row in rows]
