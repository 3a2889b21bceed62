"""Fig. 3(a,b): measure the gradients of every layer's FFN, before training."""

from lnexp.theory.by_layer import ffn_gradients
from lnexp.theory.measurement import Context, Row, register_measurement
from lnexp.theory.models import untrained_placement
from lnexp.theory.source_attention import source_variances


@register_measurement
def gradient_by_layer(
    context: Context, placement: str, layers: int, batches: int, tokens: int, model: list[str]
) -> list[Row]:
    """Return the rows of :func:`lnexp.theory.by_layer.ffn_gradients` for a model before training.

    A further column, ``source_variance``, has the variance of the output of the layer's attention to the source (see
    :mod:`lnexp.theory.source_attention`); it is 0 in layers without such attention.

    Args:
        context: seed and corpus.
        placement: a registered one.
        layers: of the model, per side.
        batches: number of minibatches in the expectation and in the variance.
        tokens: of a minibatch, per side, at most.
        model: further settings of the model, as ``encoder_embed_dim=512``.
    """
    probed = untrained_placement(context, placement, model, batches, tokens, layers=layers)
    variances = source_variances(probed)
    return [row | {"source_variance": variances.get((row["side"], row["layer"]), 0.0)} for row in ffn_gradients(probed)]
