"""Liu et al. 2020: measure which sublayers the output of each residual block comes from."""

from lnexp.theory.dependency import shares
from lnexp.theory.measurement import Context, Row, register_measurement
from lnexp.theory.models import untrained_placement


@register_measurement
def dependency(context: Context, placement: str, layers: int, batches: int, tokens: int, model: list[str]) -> list[Row]:
    """Return a row for each pair of encoder sublayers: the ``share`` of sublayer ``on`` in the output of ``sublayer``.

    Both are numbers from 1, and ``back`` is how many blocks lie between them, 0 for a block's own sublayer; see
    :func:`lnexp.theory.dependency.shares`.

    Args:
        context: seed and corpus.
        placement: a registered one.
        layers: of the encoder; the decoder has one.
        batches: number of minibatches.
        tokens: of a minibatch, per side, at most.
        model: further settings of the model, as ``encoder_embed_dim=512``.
    """
    sides = [f"encoder_layers={layers}", "decoder_layers=1"]
    probed = untrained_placement(context, placement, [*model, *sides], batches, tokens)
    return [
        {"sublayer": number, "on": other, "back": number - other, "share": share}
        for number, of_block in enumerate(shares(probed), start=1)
        for other, share in enumerate(of_block, start=1)
    ]
