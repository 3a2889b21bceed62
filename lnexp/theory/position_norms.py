"""The squared norms of a real model's hidden states, position by position."""

from typing import Any

import torch
from torch import Tensor

from lnexp.theory.hidden_states import hidden_norms, places_of
from lnexp.theory.models import SIDES, Probed
from lnexp.theory.probe import Row


@torch.no_grad()
def position_norms(probed: Probed, batch: dict[str, Any], side: str, at: str) -> list[Tensor]:
    """``‖x‖²`` of every position that is no padding, a tensor a layer of one side.

    Args:
        probed: the model.
        batch: one of its minibatches.
        side: one of :data:`lnexp.theory.models.SIDES`.
        at: where in the layers, one of :data:`lnexp.theory.hidden_states.PLACES`.
    """
    with hidden_norms(getattr(probed.model, side).layers, at) as norms:
        probed.model(**batch["net_input"])
    kept = batch["net_input"][SIDES[side]].ne(probed.criterion.padding_idx).t()
    return [norm[kept] for norm in norms]


def mean_norms(probed: Probed) -> list[Row]:
    """``E‖x‖²/d`` over all positions of all minibatches, a row a layer: ``side``, ``layer`` and its places."""
    rows = []
    for side in SIDES:
        layers = getattr(probed.model, side).layers
        means = {at: (_means(probed, side, at) / layers[0].embed_dim).tolist() for at in places_of(layers)}
        for number in range(len(layers)):
            rows.append(
                {"side": side, "layer": number + 1, **{at: of_layers[number] for at, of_layers in means.items()}}
            )
    return rows


def _means(probed: Probed, side: str, at: str) -> Tensor:
    """``E‖x‖²`` of each layer."""
    by_batch = [position_norms(probed, batch, side, at) for batch in probed.batches]
    return torch.stack([torch.cat(of_layer).mean() for of_layer in zip(*by_batch, strict=True)])
