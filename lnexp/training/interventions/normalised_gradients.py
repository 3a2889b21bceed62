"""Normalise the gradient of every matrix by itself."""

from torch import Tensor

from lnexp.training.intervention import ChangesGradients, Weight, register_intervention

#: A gradient whose root mean square is below this is left as good as 0: squares of smaller ones are 0 in single
#: precision.
SMALLEST = 1e-18


@register_intervention("normalised_gradients")
class NormalisedGradients(ChangesGradients):
    """``g ← g / rms(g)`` for every matrix and vector: their gradients differ in direction alone, over layers and time.

    With Adam it tests whether the size of gradients is to blame, by layer and by update. With SGD it is normalised SGD,
    matrix by matrix (You et al. 2017, arXiv 1708.03888, scale by the weight's norm besides): an update of rate η
    changes every matrix by a root mean square of η, as Adam's first update does where every element has a gradient,
    without an estimate of any moment. Of a matrix with few rows in a batch, as an embedding, these change by more.
    """

    def change(self, weight: Weight, gradient: Tensor) -> None:
        """Divide the gradient by its root mean square."""
        gradient.div_(weight.rms(gradient).clamp(min=SMALLEST))
