"""The squared norms of a real model's hidden states, position by position."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

import torch
from torch import Tensor

from lnexp.theory.hidden_states import hidden_norms, places_of
from lnexp.theory.models import SIDES, Probed
from lnexp.theory.probe import Row

#: Where to look: a side, and a place in its layers, one of :data:`lnexp.theory.hidden_states.PLACES`.
Place = tuple[str, str]


@torch.no_grad()
def position_norms(probed: Probed, batch: dict[str, Any], places: list[Place]) -> dict[Place, list[Tensor]]:
    """``‖x‖²`` of every position that is no padding, for each place a tensor a layer, from one pass of a minibatch."""
    with _recording(probed, places) as norms:
        probed.model(**batch["net_input"])
    padding = probed.criterion.padding_idx
    kept = {side: batch["net_input"][tokens].ne(padding).t() for side, tokens in SIDES.items()}
    return {place: [norm[kept[place[0]]] for norm in norms[place]] for place in places}


@contextmanager
def _recording(probed: Probed, places: list[Place]) -> Iterator[dict[Place, list[Tensor]]]:
    with ExitStack() as stack:
        yield {
            (side, at): stack.enter_context(hidden_norms(getattr(probed.model, side).layers, at)) for side, at in places
        }


def mean_norms(probed: Probed) -> list[Row]:
    """``E‖x‖²/d`` over all positions of all minibatches, a row a layer: ``side``, ``layer`` and its places."""
    layers = {side: getattr(probed.model, side).layers for side in SIDES}
    places = [(side, at) for side in SIDES for at in places_of(layers[side])]
    by_batch = [position_norms(probed, batch, places) for batch in probed.batches]

    def mean(place: Place, number: int) -> float:
        all_positions = torch.cat([norms[place][number] for norms in by_batch])
        return float(all_positions.mean()) / layers[place[0]][number].embed_dim

    return [
        {"side": side, "layer": number + 1, **{at: mean((side, at), number) for at in places_of(layers[side])}}
        for side in SIDES
        for number in range(len(layers[side]))
    ]
