"""Fig. 3(c,d): the gradient of the last FFN of models of different depth, before training."""

from lnexp.theory.gradients import gradient_norms
from lnexp.theory.models import loss_of, so_deep, untrained
from lnexp.theory.probe import Context, Row, register_probe


@register_probe
def gradient_by_depth(
    context: Context, placement: str, tied: bool, layers: list[int], batches: int, tokens: int, model: list[str]
) -> list[Row]:
    """``‖E[∂L/∂W²]‖_F`` of the last FFN of the decoder, in models of so many layers a side.

    Args:
        context: seed and corpus.
        placement: a registered one.
        tied: whether the decoder's embedding is its output projection, too.
        layers: the depths.
        batches: minibatches in the expectation.
        tokens: of a minibatch, per side.
        model: further settings of the model, as ``encoder_embed_dim=512``.
    """
    found = []
    for depth in layers:
        options = [*model, *so_deep(depth), f"share_decoder_input_output_embed={tied}"]
        probed = untrained(context, placement, options, batches, tokens)
        name = f"decoder.layers.{depth - 1}.fc2.weight"
        norm = gradient_norms(probed.model, [name], (loss_of(probed, batch) for batch in probed.batches))[name]
        found.append({"layers": depth, "grad_norm": norm.expected, "mean_grad_norm": norm.mean})
    return found
