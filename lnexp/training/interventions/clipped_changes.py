"""Clip the change that an update makes to a weight."""

from dataclasses import dataclass

from torch import Tensor

from lnexp.training.intervention import ScalesChanges, Weight, register_intervention


@dataclass
class ClippedChangesOptions:
    """The option of :class:`ClippedChanges`.

    Attributes:
        most: d, the greatest root mean square of a change, in learning rates.

    Raises:
        ValueError: for one that is not above 0.
    """

    most: float

    def __post_init__(self) -> None:
        if not self.most > 0:
            raise ValueError(f"most={self.most}: must be above 0")


@register_intervention("clipped_changes", ClippedChangesOptions)
class ClippedChanges(ScalesChanges):
    """``Δ ← Δ / max(1, rms(Δ) / (d η))`` for every matrix and vector, η being the rate of the update.

    Update clipping of Shazeer & Stern 2018 ("Adafactor", arXiv 1804.04235, section 6, where d = 1). Adam's first update
    has a root mean square of η where every element has a gradient, later ones mostly of less, but of up to 1.7 η where
    gradients grow; so with d below 1 it makes early updates smaller, and later ones where they are large.
    """

    options: ClippedChangesOptions

    def share(self, weight: Weight, update: int, change: Tensor) -> Tensor:
        """Return ``min(1, d η / rms(Δ))`` by member."""
        rms = weight.rms(change)
        largest = self.options.most * self.rates().to(change).view(-1, *[1] * (rms.dim() - 1) if weight.stacked else [])
        return (largest / rms).nan_to_num(nan=1.0).clamp(max=1)
