"""Hidden states and gradients of every layer of a model, before training, whatever its placement."""

from lnexp.theory.ffn_gradients import MATRICES, ffn_gradients
from lnexp.theory.models import so_deep, untrained
from lnexp.theory.position_norms import mean_norms
from lnexp.theory.probe import Context, Row, register_probe


@register_probe
def layer_by_layer(
    context: Context, placement: str, layers: int, batches: int, tokens: int, model: list[str]
) -> list[Row]:
    """A row a layer of either side: ``output``, the ``E‖x‖²/d`` of what it gives out, and ``W1`` and ``W2``, the
    ``‖E[∂L/∂W]‖_F`` of its FFN.

    It is told what :func:`lnexp.theory.probes.gradient_by_layer.gradient_by_layer` is told.
    """
    probed = untrained(context, placement, [*model, *so_deep(layers)], batches, tokens)
    gradients = {(row["side"], row["layer"], row["parameter"]): row["grad_norm"] for row in ffn_gradients(probed)}
    return [
        {
            "side": row["side"],
            "layer": row["layer"],
            "output": row["output"],
            **{matrix: gradients[row["side"], row["layer"], matrix] for matrix in MATRICES},
        }
        for row in mean_norms(probed)
    ]
