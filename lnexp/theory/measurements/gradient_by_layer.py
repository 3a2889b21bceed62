"""Fig. 3(a,b): measure the gradients of every layer's FFN, before training."""

from lnexp.theory.by_layer import ffn_gradients
from lnexp.theory.measurement import Context, Row, register_measurement
from lnexp.theory.models import untrained_placement


@register_measurement
def gradient_by_layer(
    context: Context, placement: str, layers: int, batches: int, tokens: int, model: list[str]
) -> list[Row]:
    """Return the rows of :func:`lnexp.theory.by_layer.ffn_gradients` for a model before training.

    Args:
        context: seed and corpus.
        placement: a registered one.
        layers: of the model, per side.
        batches: number of minibatches in the expectation.
        tokens: of a minibatch, per side, at most.
        model: further settings of the model, as ``encoder_embed_dim=512``.
    """
    return ffn_gradients(untrained_placement(context, placement, model, batches, tokens, layers=layers))
