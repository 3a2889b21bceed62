"""Fig. 3(a,b): the gradients of every layer's FFN, before training."""

from lnexp.theory.gradients import gradient_norms
from lnexp.theory.models import loss_of, untrained
from lnexp.theory.probe import Context, Row, register_probe

SIDES = ("encoder", "decoder")
#: The two matrices of an FFN: as the paper calls them, and as the model does.
MATRICES = {"W1": "fc1", "W2": "fc2"}


@register_probe
def gradient_by_layer(
    context: Context, placement: str, layers: int, batches: int, tokens: int, model: list[str]
) -> list[Row]:
    """``‖E[∂L/∂W]‖_F`` of both FFN matrices of every layer of both sides.

    Args:
        context: seed and corpus.
        placement: a registered one.
        layers: of the model, a side.
        batches: minibatches in the expectation.
        tokens: of a minibatch, per side.
        model: further settings of the model, as ``encoder_embed_dim=512``.
    """
    options = [*model, f"encoder_layers={layers}", f"decoder_layers={layers}"]
    probed = untrained(context, batches, tokens, [f"model={placement}", *(f"model.{said}" for said in options)])
    names = {
        f"{side}.layers.{layer}.{module}.weight": {"side": side, "matrix": matrix, "layer": layer + 1}
        for side in SIDES
        for matrix, module in MATRICES.items()
        for layer in range(layers)
    }
    norms = gradient_norms(probed.model, list(names), (loss_of(probed, batch) for batch in probed.batches))
    return [
        {**where, "grad_norm": norms[name].expected, "mean_grad_norm": norms[name].mean}
        for name, where in names.items()
    ]
