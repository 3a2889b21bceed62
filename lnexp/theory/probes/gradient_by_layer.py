"""Fig. 3(a,b): the gradients of every layer's FFN, before training."""

from lnexp.theory.ffn_gradients import ffn_gradients
from lnexp.theory.models import so_deep, untrained
from lnexp.theory.probe import Context, Row, register_probe


@register_probe
def gradient_by_layer(
    context: Context, placement: str, layers: int, batches: int, tokens: int, model: list[str]
) -> list[Row]:
    """The rows of :func:`lnexp.theory.ffn_gradients.ffn_gradients`.

    Args:
        context: seed and corpus.
        placement: a registered one.
        layers: of the model, a side.
        batches: minibatches in the expectation.
        tokens: of a minibatch, per side.
        model: further settings of the model, as ``encoder_embed_dim=512``.
    """
    return ffn_gradients(untrained(context, placement, [*model, *so_deep(layers)], batches, tokens))
