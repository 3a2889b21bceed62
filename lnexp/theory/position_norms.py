"""Measure the squared norms of a model's hidden states on minibatches, without padding positions."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

import torch
from torch import Tensor

from lnexp.plugin.placement import Side
from lnexp.theory.hidden_states import hidden_norms, places_of
from lnexp.theory.measurement import Row
from lnexp.theory.models import ProbedModel, kept_positions, sides_of

#: A side of the model, and a place in its layers, one of :data:`lnexp.theory.hidden_states.PLACES`.
Place = tuple[Side, str]


@torch.no_grad()
def position_norms(probed: ProbedModel, batch: dict[str, Any], places: list[Place]) -> dict[Place, list[Tensor]]:
    """Return ``‖x‖²`` at each place, from one forward pass: a tensor ``(positions,)`` a layer, padding left out."""
    with _recording(probed, places) as norms:
        probed.model(**batch["net_input"])
    kept = kept_positions(probed.model, batch["net_input"])
    return {place: [norm[kept[place[0]]] for norm in norms[place]] for place in places}


@contextmanager
def _recording(probed: ProbedModel, places: list[Place]) -> Iterator[dict[Place, list[Tensor]]]:
    with ExitStack() as stack:
        yield {
            (side, at): stack.enter_context(hidden_norms(getattr(probed.model, side).layers, at)) for side, at in places
        }


def mean_norms(probed: ProbedModel) -> list[Row]:
    """Return ``E‖x‖²/d`` of every layer, the mean over all positions of all minibatches.

    A row has ``side``, ``layer`` (from 1) and a column for each place that the layers have.
    """
    layers = {side: getattr(probed.model, side).layers for side in sides_of(probed.model)}
    places = [(side, at) for side in layers for at in places_of(layers[side])]
    by_batch = [position_norms(probed, batch, places) for batch in probed.batches]

    def mean(place: Place, number: int) -> float:
        all_positions = torch.cat([norms[place][number] for norms in by_batch])
        return float(all_positions.mean()) / layers[place[0]][number].embed_dim

    return [
        {"side": side, "layer": number + 1, **{at: mean((side, at), number) for at in places_of(layers[side])}}
        for side in layers
        for number in range(len(layers[side]))
    ]
