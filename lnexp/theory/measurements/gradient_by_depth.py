"""Fig. 3(c,d): measure the FFN gradients of models of different depth, before training."""

import statistics
from collections.abc import Callable, Sequence

from lnexp.theory.by_layer import ffn_gradients
from lnexp.theory.measurement import Context, Row, register_measurement
from lnexp.theory.models import untrained_placement


def _geometric_mean(norms: Sequence[float]) -> float:
    """Return the geometric mean; 0 where a norm is 0, as those of ReZero's FFNs are before training."""
    return statistics.geometric_mean(norms) if all(norms) else 0.0


#: What is made of the norms of all FFN matrices of a model, by the name in the column ``of``. They come in the order of
#: :func:`lnexp.theory.by_layer.ffn_gradients`, which ends with the last FFN's W² (for translation the decoder's).
SUMMARIES: dict[str, Callable[[Sequence[float]], float]] = {
    "last": lambda norms: norms[-1],
    "mean": _geometric_mean,
    "greatest": max,
}


@register_measurement
def gradient_by_depth(
    context: Context, placement: str, tied: bool, layers: list[int], batches: int, tokens: int, model: list[str]
) -> list[Row]:
    """Return ``‖E[∂L/∂W]‖_F`` for each number of layers a side: of one FFN matrix, and of all of them.

    A row has ``layers``, ``of`` (``last``: the last FFN's W²; ``mean``: the geometric mean over both matrices of all
    FFNs; ``greatest``: the greatest of these), and ``grad_norm`` and ``mean_grad_norm`` as
    :func:`lnexp.theory.by_layer.ffn_gradients` has them.

    Args:
        context: seed and corpus.
        placement: a registered one.
        tied: whether the decoder's embedding is also its output projection.
        layers: the depths.
        batches: number of minibatches in the expectation.
        tokens: of a minibatch, per side, at most.
        model: further settings of the model, as ``encoder_embed_dim=512``.
    """
    options = [*model, f"share_decoder_input_output_embed={tied}"]
    found = []
    for depth in layers:
        gradients = ffn_gradients(untrained_placement(context, placement, options, batches, tokens, layers=depth))
        found += [
            {"layers": depth, "of": of}
            | {norm: summary([row[norm] for row in gradients]) for norm in ("grad_norm", "mean_grad_norm")}
            for of, summary in SUMMARIES.items()
        ]
    return found
