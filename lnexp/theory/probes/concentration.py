"""How closely the norms of hidden states keep to their mean: the condition of Theorem 1."""

import torch
from torch import Tensor

from lnexp.errors import UserError
from lnexp.theory.hidden_states import hidden_norms
from lnexp.theory.models import Probed, untrained
from lnexp.theory.probe import Context, Row, register_probe

#: Both sides, and what the batch calls the tokens that go in there.
SIDES = {"encoder": "src_tokens", "decoder": "prev_output_tokens"}


@register_probe
def concentration(
    context: Context, placement: str, at: str, delta: float, batches: int, tokens: int, model: list[str]
) -> list[Row]:
    """The smallest ε for which ``‖x‖²`` is (ε, δ)-bounded at every layer.

    That is, ``‖x‖² ≤ (1 + ε) E‖x‖²`` with probability 1 − δ, over all positions of the minibatches. (That the paper
    asks it of the upper side alone is seen in its Theorem 1: the lower side costs it another ε / (0.9 + ε).)
    ``epsilon_of_both`` is the ε of ``|‖x‖² − E‖x‖²| ≤ ε E‖x‖²``.

    Args:
        context: seed and corpus.
        placement: a registered one.
        at: ``before_norm`` or ``output`` of the layer, see :class:`lnexp.theory.hidden_states.HiddenNorms`.
        delta: δ.
        batches: minibatches whose positions are looked at.
        tokens: of a minibatch, per side.
        model: further settings of the model, as ``encoder_embed_dim=512``.
    """
    return [
        {
            "side": side,
            "layer": layer,
            "epsilon": float((ratio - 1).quantile(1 - delta)),
            "epsilon_of_both": float((ratio - 1).abs().quantile(1 - delta)),
        }
        for side, ratios in _ratios(context, placement, at, batches, tokens, model).items()
        for layer, ratio in enumerate(ratios, start=1)
    ]


@register_probe
def norm_histogram(
    context: Context, placement: str, at: str, bins: int, batches: int, tokens: int, model: list[str]
) -> list[Row]:
    """How many of the last layer's hidden states have which ``‖x‖² / E‖x‖²``, in so many bins from 0.5 to 1.5.

    Arguments as of :func:`concentration`; ``share`` is that of all positions. What is outside is in the outermost bins.
    """
    found = []
    for side, ratios in _ratios(context, placement, at, batches, tokens, model).items():
        last = ratios[-1].clamp(0.5, 1.5)
        found += [
            {"side": side, "to_mean": 0.5 + (number + 0.5) / bins, "share": float(count) / len(last)}
            for number, count in enumerate(last.histc(bins, 0.5, 1.5))
        ]
    return found


@torch.no_grad()
def _ratios(
    context: Context, placement: str, at: str, batches: int, tokens: int, model: list[str]
) -> dict[str, list[Tensor]]:
    """``‖x‖² / E‖x‖²`` of every position that is no padding, by side and layer."""
    if at not in ("before_norm", "output"):
        raise UserError(f"at={at}: must be before_norm or output")
    probed = untrained(context, batches, tokens, [f"model={placement}", *(f"model.{said}" for said in model)])
    found = {}
    for side, of_side in SIDES.items():
        by_batch = [_norms(probed, batch, side, of_side, at) for batch in probed.batches]
        squared = [torch.cat(of_layer) for of_layer in zip(*by_batch, strict=True)]
        found[side] = [norms / norms.mean() for norms in squared]
    return found


def _norms(probed: Probed, batch: dict, side: str, tokens: str, at: str) -> list[Tensor]:
    with hidden_norms(getattr(probed.model, side).layers) as norms:
        probed.model(**batch["net_input"])
    kept = batch["net_input"][tokens].ne(probed.criterion.padding_idx).t()
    return [norm[kept] for norm in getattr(norms, at)]
