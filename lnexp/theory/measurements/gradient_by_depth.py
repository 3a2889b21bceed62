"""Fig. 3(c,d): measure the gradient of the last FFN of models of different depth, before training."""

from lnexp.theory.gradients import gradient_norms
from lnexp.theory.measurement import Context, Row, register_measurement
from lnexp.theory.models import loss_of, sides_of, untrained_placement


@register_measurement
def gradient_by_depth(
    context: Context, placement: str, tied: bool, layers: list[int], batches: int, tokens: int, model: list[str]
) -> list[Row]:
    """Return ``‖E[∂L/∂W²]‖_F`` of the last FFN (for translation the decoder's), for each number of layers a side.

    Args:
        context: seed and corpus.
        placement: a registered one.
        tied: whether the decoder's embedding is also its output projection.
        layers: the depths.
        batches: number of minibatches in the expectation.
        tokens: of a minibatch, per side, at most.
        model: further settings of the model, as ``encoder_embed_dim=512``.
    """
    found = []
    for depth in layers:
        options = [*model, f"share_decoder_input_output_embed={tied}"]
        probed = untrained_placement(context, placement, options, batches, tokens, layers=depth)
        last_side = sides_of(probed.model)[-1]
        name = f"{last_side}.layers.{depth - 1}.fc2.weight"
        norm = gradient_norms(probed.model, [name], (loss_of(probed, batch) for batch in probed.batches))[name]
        found.append({"layers": depth, "grad_norm": norm.expected, "mean_grad_norm": norm.mean})
    return found
