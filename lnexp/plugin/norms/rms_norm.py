"""RMSNorm: LayerNorm without the mean."""

from torch import Tensor, nn
from torch.nn import functional

from ..norm import register_norm
from ..scale import StackedScale
from ..stacking import Parameters, stacked_form


@register_norm("rms_norm")
def rms_norm(width: int) -> nn.Module:
    """Return the module ``γ x / RMS(x)`` (Zhang & Sennrich 2019, "Root Mean Square Layer Normalization", eq. 4)."""
    return nn.RMSNorm(width, eps=1e-5)


@stacked_form(nn.RMSNorm)
class StackedRMSNorm(StackedScale):
    """``S`` normalisations by the root mean square: ``weight`` is ``(S, channel)``."""

    def __init__(self, single: nn.RMSNorm, parameters: Parameters):
        super().__init__(single, parameters)
        self.normalized_shape, self.eps = list(single.normalized_shape), single.eps

    def normal(self, rows: Tensor) -> Tensor:
        """Return vectors of root mean square 1; takes and returns ``(S·B, time, channel)``."""
        return functional.rms_norm(rows, self.normalized_shape, None, self.eps)
