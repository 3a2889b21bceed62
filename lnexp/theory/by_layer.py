"""Measure FFN gradients (the paper's Fig. 3(a,b)) and hidden states of every layer of a model."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

import torch
from torch import Tensor

from lnexp.plugin.placement import Side
from lnexp.theory.gradients import gradient_norms
from lnexp.theory.hidden_states import hidden_norms, places_of
from lnexp.theory.measurement import Row
from lnexp.theory.models import ProbedModel, kept_positions, loss_of, sides_of

#: A side of the model, and a place in its layers, one of :data:`lnexp.theory.hidden_states.PLACES`.
Place = tuple[Side, str]
#: The two matrices of an FFN: the paper's name, and the model's.
MATRICES = {"W1": "fc1", "W2": "fc2"}


def ffn_gradients(probed: ProbedModel) -> list[Row]:
    """Return ``‖E[∂L/∂W]‖_F`` of both FFN matrices of every layer of every side; E is the mean over the minibatches.

    A row has ``side``, ``layer`` (from 1), ``parameter`` (``W1`` or ``W2``), ``grad_norm`` (the norm of the expected
    gradient) and ``mean_grad_norm`` (the mean of the minibatches' norms).
    """
    names = {
        f"{side}.layers.{layer}.{module}.weight": {"side": side, "layer": layer + 1, "parameter": matrix}
        for side in sides_of(probed.model)
        for matrix, module in MATRICES.items()
        for layer in range(len(getattr(probed.model, side).layers))
    }
    norms = gradient_norms(probed.model, list(names), (loss_of(probed, batch) for batch in probed.batches))
    return [
        {**where, "grad_norm": norms[name].expected, "mean_grad_norm": norms[name].mean}
        for name, where in names.items()
    ]


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


def norms_and_gradients(probed: ProbedModel) -> list[Row]:
    """Return the rows of :func:`mean_norms`, each with its layer's gradients.

    The further columns are ``W1_grad_norm``, ``W1_mean_grad_norm``, ``W2_grad_norm`` and ``W2_mean_grad_norm``, as
    :func:`ffn_gradients` has them.
    """
    gradients = {(row["side"], row["layer"], row["parameter"]): row for row in ffn_gradients(probed)}
    return [
        row
        | {
            f"{matrix}_{norm}": gradients[row["side"], row["layer"], matrix][norm]
            for matrix in MATRICES
            for norm in ("grad_norm", "mean_grad_norm")
        }
        for row in mean_norms(probed)
    ]
