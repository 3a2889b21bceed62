"""Give every layer a learning rate of its own."""

from dataclasses import dataclass

import torch
from torch import Tensor

from lnexp.training.intervention import ScalesChanges, Weight, register_intervention


@dataclass
class LayerRatesOptions:
    """Options of :class:`LayerRates`.

    Attributes:
        encoder: the factor between the rates of a layer and of the next one, in the encoder; 1 changes nothing.
        decoder: the same in the decoder.

    Raises:
        ValueError: for a factor that is not above 0.
    """

    encoder: float
    decoder: float

    def __post_init__(self) -> None:
        for side in ("encoder", "decoder"):
            if not getattr(self, side) > 0:
                raise ValueError(f"{side}={getattr(self, side)}: must be above 0")


@register_intervention("layer_rates", LayerRatesOptions)
class LayerRates(ScalesChanges):
    """The rate of layer l of L is multiplied by ``c^(l − (L + 1)/2)``: the geometric mean over a stack's layers stays.

    With c below 1 it undoes gradients that grow from layer to layer by 1/c, as those of Post-LN do before training
    (Xiong et al. 2020, Fig. 3(a,b)). Adam divides gradients by their size; so this is done to the update, not to the
    gradient, and tests whether layers near the output are trained too fast.
    """

    options: LayerRatesOptions

    def scales(self, weight: Weight, update: int) -> bool:
        """Return whether a weight is of a layer whose rate is another one."""
        return self._factor(weight) != 1

    def share(self, weight: Weight, update: int, change: Tensor) -> Tensor:
        """Return the factor of the weight's layer."""
        return torch.tensor(self._factor(weight), device=change.device)

    def _factor(self, weight: Weight) -> float:
        if weight.side is None:
            return 1.0
        return float(getattr(self.options, weight.side) ** (weight.layer - (weight.layers + 1) / 2))
