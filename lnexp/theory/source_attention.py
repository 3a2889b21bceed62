"""Measure the variance of the output of attention to the source."""

import torch
from torch import Tensor, nn

from lnexp.plugin.placement import Side
from lnexp.theory.hidden_states import hidden_norms
from lnexp.theory.models import ProbedModel, kept_positions, sides_of

#: A side of the model, and the number of a layer in it, from 1.
Layer = tuple[Side, int]


@torch.no_grad()
def source_variances(probed: ProbedModel) -> dict[Layer, float]:
    """Return the variance of the output of attention to the source, for every layer that has such attention.

    It is the mean square over channels and over all positions of all minibatches, padding left out; before the residual
    connection.
    """
    attentions = {
        (side, number): layer.encoder_attn
        for side in sides_of(probed.model)
        for number, layer in enumerate(getattr(probed.model, side).layers, start=1)
        if getattr(layer, "encoder_attn", None) is not None
    }
    by_layer: dict[Layer, list[Tensor]] = {where: [] for where in attentions}
    for batch in probed.batches:
        with hidden_norms(nn.ModuleList(attentions.values()), "output") as norms:
            probed.model(**batch["net_input"])
        kept = kept_positions(probed.model, batch["net_input"])
        for where, norm in zip(attentions, norms, strict=True):
            by_layer[where].append(norm[kept[where[0]]])
    return {where: float(torch.cat(norms).mean()) / attentions[where].embed_dim for where, norms in by_layer.items()}
