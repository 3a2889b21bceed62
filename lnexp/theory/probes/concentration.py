"""How closely the norms of hidden states keep to their mean: the condition of Theorem 1."""

from dataclasses import replace

import torch
from torch import Tensor

from lnexp.errors import UserError
from lnexp.theory.models import SIDES, untrained
from lnexp.theory.position_norms import position_norms
from lnexp.theory.probe import Context, Row, register_probe

MOST_DRAWS = 1000  # so that no two seeds have one in common


@register_probe
def concentration(
    context: Context,
    placement: str,
    at: str,
    delta: float,
    bins: int,
    draws: int,
    batches: int,
    tokens: int,
    model: list[str],
) -> list[Row]:
    """The smallest ε for which ``‖x‖²`` is (ε, δ)-bounded at every layer; and a histogram of the last layer's.

    Bounded is ``‖x‖² ≤ (1 + ε) E‖x‖²`` with probability 1 − δ, over draws of the parameters, minibatches and positions.
    (That the paper asks it of the upper side alone is seen in its Theorem 1: the lower side costs it another
    ε / (0.9 + ε).) ``epsilon_of_both`` is the ε of ``|‖x‖² − E‖x‖²| ≤ ε E‖x‖²``. In the histogram ``share`` is that of
    all positions; what is outside its bins is in the outermost.

    Args:
        context: seed and corpus.
        placement: a registered one.
        at: where in the layers, one of :data:`lnexp.theory.hidden_states.PLACES`.
        delta: δ.
        bins: of ``‖x‖² / E‖x‖²`` in the histogram, from 0.5 to 1.5.
        draws: of the parameters.
        batches: minibatches for each of them, whose positions are looked at.
        tokens: of a minibatch, per side.
        model: further settings of the model, as ``encoder_embed_dim=512``.
    """
    if draws > MOST_DRAWS:
        raise UserError(f"draws={draws}: must be at most {MOST_DRAWS}")
    found = _ratios(context, placement, at, draws, batches, tokens, model)
    bounds = [
        {"side": side, "layer": layer, **_bounds(ratio, delta)}
        for side, ratios in found.items()
        for layer, ratio in enumerate(ratios, start=1)
    ]
    bars = [{"side": side, **bar} for side, ratios in found.items() for bar in _histogram(ratios[-1], bins)]
    return bounds + bars


def _bounds(ratio: Tensor, delta: float) -> Row:
    return {
        "positions": len(ratio),
        "epsilon": float((ratio - 1).quantile(1 - delta)),
        "epsilon_of_both": float((ratio - 1).abs().quantile(1 - delta)),
    }


def _histogram(ratio: Tensor, bins: int) -> list[Row]:
    counts = ratio.clamp(0.5, 1.5).histc(bins, 0.5, 1.5)
    return [
        {"to_mean": 0.5 + (number + 0.5) / bins, "share": float(count) / len(ratio)}
        for number, count in enumerate(counts)
    ]


def _ratios(
    context: Context, placement: str, at: str, draws: int, batches: int, tokens: int, model: list[str]
) -> dict[str, list[Tensor]]:
    """``‖x‖² / E‖x‖²`` of every position that is no padding, by side and layer."""
    by_batch: dict[str, list[list[Tensor]]] = {side: [] for side in SIDES}
    places = [(side, at) for side in SIDES]
    for draw in range(draws):
        drawn = replace(context, seed=MOST_DRAWS * context.seed + draw)
        probed = untrained(drawn, placement, model, batches, tokens)
        for batch in probed.batches:
            for (side, _), norms in position_norms(probed, batch, places).items():
                by_batch[side].append(norms)
    pooled = {side: [torch.cat(of_layer) for of_layer in zip(*found, strict=True)] for side, found in by_batch.items()}
    return {side: [norms / norms.mean() for norms in layers] for side, layers in pooled.items()}
