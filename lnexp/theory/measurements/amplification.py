"""Liu et al. 2020: measure by depth how an encoder amplifies a small change of its weights."""

from lnexp.theory.amplification import against_the_gradient, gain, random_signs
from lnexp.theory.dependency import own_shares
from lnexp.theory.measurement import Context, Row, register_measurement
from lnexp.theory.models import untrained_placement


@register_measurement
def amplification(
    context: Context,
    placement: str,
    layers: list[int],
    random_size: float,
    gradient_size: float,
    batches: int,
    tokens: int,
    model: list[str],
) -> list[Row]:
    """Return how much the output of an encoder depends on its weights, for each number of layers, before training.

    A row has ``sublayers`` (N, two a layer), ``of``, and ``value``: of ``random`` and ``gradient`` the gain of
    :func:`lnexp.theory.amplification.gain` for signs drawn at random and for those against the gradient; of
    ``dependency`` the sum over all sublayers of :func:`lnexp.theory.dependency.own_shares`, which the gain is
    proportional to by Theorem 2 of Liu et al. 2020. The decoder has one layer; the gradient goes through it.

    Args:
        context: seed and corpus.
        placement: a registered one.
        layers: of the encoder.
        random_size: by how much each weight changes where signs are drawn at random.
        gradient_size: the same where it changes against the gradient.
        batches: number of minibatches in all means.
        tokens: of a minibatch, per side, at most.
        model: further settings of the model, as ``encoder_embed_dim=512``.
    """
    found: list[Row] = []
    for depth in layers:
        sides = [f"encoder_layers={depth}", "decoder_layers=1"]
        probed = untrained_placement(context, placement, [*model, *sides], batches, tokens)
        values = {
            "random": gain(probed, random_signs(probed.model), random_size),
            "gradient": gain(probed, against_the_gradient(probed), gradient_size),
            "dependency": sum(own_shares(probed)),
        }
        found += [{"sublayers": 2 * depth, "of": of, "value": value} for of, value in values.items()]
    return found
