"""Measure hidden states and FFN gradients of every layer of a model of any placement, before training."""

from lnexp.theory.by_layer import MATRICES, norms_and_gradients
from lnexp.theory.measurement import Context, Row, register_measurement
from lnexp.theory.models import untrained_placement


@register_measurement
def layer_by_layer(
    context: Context, placement: str, layers: int, batches: int, tokens: int, model: list[str]
) -> list[Row]:
    """Return a row a layer: ``output``, the ``E‖x‖²/d`` of its output; ``W1`` and ``W2``, its ``‖E[∂L/∂W]‖_F``.

    Args:
        context: seed and corpus.
        placement: a registered one.
        layers: of the model, per side.
        batches: number of minibatches in both expectations.
        tokens: of a minibatch, per side, at most.
        model: further settings of the model, as ``encoder_embed_dim=512``.
    """
    probed = untrained_placement(context, placement, model, batches, tokens, layers=layers)
    return [
        {
            "side": row["side"],
            "layer": row["layer"],
            "output": row["output"],
            **{matrix: row[f"{matrix}_grad_norm"] for matrix in MATRICES},
        }
        for row in norms_and_gradients(probed)
    ]
