"""Concentration: measure how far the norms of hidden states deviate from their mean, the condition of Theorem 1."""

from dataclasses import replace

import torch
from torch import Tensor

from lnexp.errors import UserError
from lnexp.plugin.placement import Side
from lnexp.theory.by_layer import position_norms
from lnexp.theory.measurement import Context, Row, register_measurement
from lnexp.theory.models import sides_of, untrained_placement

MOST_DRAWS = 1000  # so that no two seeds share a draw


@register_measurement
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
    """Return the smallest ε for which ``‖x‖²`` is (ε, δ)-bounded, for every layer; and a histogram of the last layer's.

    ``‖x‖²`` is (ε, δ)-bounded where ``‖x‖² ≤ (1 + ε) E‖x‖²`` with probability 1 − δ, over draws of the parameters,
    minibatches and positions. (Only the upper side is bounded, as in the paper's Theorem 1, where the lower side costs
    another ε / (0.9 + ε).) ``epsilon_of_both`` is the ε of ``|‖x‖² − E‖x‖²| ≤ ε E‖x‖²``. ``share`` is a bin's part of
    all positions; the outermost bins include what lies outside.

    Args:
        context: seed and corpus.
        placement: a registered one.
        at: the place in the layers, one of :data:`lnexp.theory.hidden_states.PLACES`.
        delta: δ.
        bins: number of bins of ``‖x‖² / E‖x‖²``, from 0.5 to 1.5.
        draws: number of draws of the parameters.
        batches: number of minibatches for each draw.
        tokens: of a minibatch, per side, at most.
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
) -> dict[Side, list[Tensor]]:
    """Return ``‖x‖² / E‖x‖²`` of every position that is no padding: of each side, a tensor ``(positions,)`` a layer."""
    by_batch: dict[Side, list[list[Tensor]]] = {}
    for draw in range(draws):
        drawn = replace(context, seed=MOST_DRAWS * context.seed + draw)
        probed = untrained_placement(drawn, placement, model, batches, tokens)
        places = [(side, at) for side in sides_of(probed.model)]
        for batch in probed.batches:
            for (side, _), norms in position_norms(probed, batch, places).items():
                by_batch.setdefault(side, []).append(norms)
    pooled = {side: [torch.cat(of_layer) for of_layer in zip(*found, strict=True)] for side, found in by_batch.items()}
    return {side: [norms / norms.mean() for norms in layers] for side, layers in pooled.items()}
