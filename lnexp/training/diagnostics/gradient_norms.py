"""Measure the gradient of every matrix of parameters: where its size differs between layers, and when it vanishes."""

import torch
from torch import Tensor

from lnexp.training.diagnostic import Diagnostic, Watched, register_diagnostic


@register_diagnostic
class GradientNorms(Diagnostic):
    """``gradient_norm``, by matrix: the Frobenius norm of the gradient that the optimizer takes, of the mean loss over
    the update's tokens, after clipping and interventions.

    Fig. 3 of the paper is about these norms, of the expected gradient; here it is that of one update's batches. Of
    parameters in half precision, as single runs have them there, there is none.
    """

    def __init__(self, watched: Watched):
        super().__init__(watched)
        dimensions = 2 + watched.stacked
        named = [(name, one) for name, one in watched.model.named_parameters() if one.requires_grad]
        self._matrices = {
            name.removesuffix(".weight"): one
            for name, one in named
            if one.dim() >= dimensions and one.dtype == torch.float32
        }

    def begin(self) -> None:
        """Gradients are there when the update is made."""

    def end(self) -> dict[str, Tensor]:
        return {
            f"gradient_norm.{name}": torch.linalg.vector_norm(
                matrix.grad.detach().reshape(self.watched.members, -1), dim=1
            )
            for name, matrix in self._matrices.items()
            if matrix.grad is not None
        }
