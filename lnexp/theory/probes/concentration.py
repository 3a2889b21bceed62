"""How closely the norms of hidden states keep to their mean: the condition of Theorem 1."""

from dataclasses import replace
from itertools import product

import torch
from torch import Tensor

from lnexp.errors import UserError
from lnexp.theory.hidden_states import hidden_norms
from lnexp.theory.models import Probed, untrained
from lnexp.theory.probe import Context, Row, register_probe

#: Both sides, and what the batch calls the tokens that go in there.
SIDES = {"encoder": "src_tokens", "decoder": "prev_output_tokens"}
MOST_DRAWS = 1000  # no two seeds have one in common


@register_probe
def concentration(
    context: Context, placement: str, at: str, delta: float, draws: int, batches: int, tokens: int, model: list[str]
) -> list[Row]:
    """The smallest ε for which ``‖x‖²`` is (ε, δ)-bounded at every layer.

    That is, ``‖x‖² ≤ (1 + ε) E‖x‖²`` with probability 1 − δ, over draws of the parameters, minibatches and positions.
    (That the paper asks it of the upper side alone is seen in its Theorem 1: the lower side costs it another
    ε / (0.9 + ε).) ``epsilon_of_both`` is the ε of ``|‖x‖² − E‖x‖²| ≤ ε E‖x‖²``.

    Args:
        context: seed and corpus.
        placement: a registered one.
        at: ``before_norm`` or ``output`` of the layer, see :class:`lnexp.theory.hidden_states.HiddenNorms`.
        delta: δ.
        draws: of the parameters.
        batches: minibatches for each of them, whose positions are looked at.
        tokens: of a minibatch, per side.
        model: further settings of the model, as ``encoder_embed_dim=512``.
    """
    return [
        {
            "side": side,
            "layer": layer,
            "positions": len(ratio),
            "epsilon": float((ratio - 1).quantile(1 - delta)),
            "epsilon_of_both": float((ratio - 1).abs().quantile(1 - delta)),
        }
        for side, ratios in _ratios(context, placement, at, draws, batches, tokens, model).items()
        for layer, ratio in enumerate(ratios, start=1)
    ]


@register_probe
def norm_histogram(
    context: Context, placement: str, at: str, bins: int, draws: int, batches: int, tokens: int, model: list[str]
) -> list[Row]:
    """How many of the last layer's hidden states have which ``‖x‖² / E‖x‖²``, in so many bins from 0.5 to 1.5.

    Arguments as of :func:`concentration`; ``share`` is that of all positions. What is outside is in the outermost bins.
    """
    found = []
    for side, ratios in _ratios(context, placement, at, draws, batches, tokens, model).items():
        last = ratios[-1].clamp(0.5, 1.5)
        found += [
            {"side": side, "to_mean": 0.5 + (number + 0.5) / bins, "share": float(count) / len(last)}
            for number, count in enumerate(last.histc(bins, 0.5, 1.5))
        ]
    return found


@torch.no_grad()
def _ratios(
    context: Context, placement: str, at: str, draws: int, batches: int, tokens: int, model: list[str]
) -> dict[str, list[Tensor]]:
    """``‖x‖² / E‖x‖²`` of every position that is no padding, by side and layer."""
    if at not in ("before_norm", "output"):
        raise UserError(f"at={at}: must be before_norm or output")
    by_batch: dict[str, list[list[Tensor]]] = {side: [] for side in SIDES}
    for draw in range(draws):
        drawn = replace(context, seed=MOST_DRAWS * context.seed + draw)
        probed = untrained(drawn, placement, model, batches, tokens)
        for batch, side in product(probed.batches, SIDES):
            by_batch[side].append(_norms(probed, batch, side, at))
    pooled = {side: [torch.cat(of_layer) for of_layer in zip(*found, strict=True)] for side, found in by_batch.items()}
    return {side: [norms / norms.mean() for norms in layers] for side, layers in pooled.items()}


def _norms(probed: Probed, batch: dict, side: str, at: str) -> list[Tensor]:
    with hidden_norms(getattr(probed.model, side).layers) as norms:
        probed.model(**batch["net_input"])
    kept = batch["net_input"][SIDES[side]].ne(probed.criterion.padding_idx).t()
    return [norm[kept] for norm in getattr(norms, at)]
