"""RMSNorm: LayerNorm without the mean."""

from torch import nn

from ..norm import register_norm


@register_norm("rms_norm")
def rms_norm(width: int) -> nn.Module:
    """``γ x / RMS(x)`` (Zhang & Sennrich 2019, "Root Mean Square Layer Normalization", eq. 4)."""
    return nn.RMSNorm(width, eps=1e-5)
