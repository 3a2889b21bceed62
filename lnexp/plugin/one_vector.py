"""Parameters that are parts of one vector: an optimizer that works element by element can step it at once."""

import operator
from collections.abc import Sequence

import torch
from torch import Tensor, nn
from torch.nn.utils import parameters_to_vector, vector_to_parameters


class OneVector:
    """The parameters of a model, and a vector that shares its memory with them; the same holds of their gradients.

    What gives a parameter other memory later (``parameter.data = …``) parts it from the vector.

    Args:
        parameters: of one type, on one device; their numbers are moved into the vector.

    Attributes:
        parameters: these.
        whole: all of them as one parameter.
    """

    def __init__(self, parameters: Sequence[nn.Parameter]):
        self.parameters = parameters
        self.whole = nn.Parameter(parameters_to_vector(parameters).detach())
        vector_to_parameters(self.whole.data, parameters)
        self.whole.grad = self._gradient = torch.zeros_like(self.whole)
        self._parts = split(self._gradient, [parameter.shape for parameter in parameters])

    def gather(self) -> Tensor:
        """Return the vector's gradient, after taking in what was set as the gradient of a parameter since."""
        gradients = [parameter.grad for parameter in self.parameters]
        if not all(map(operator.is_, gradients, self._parts)):
            self._take_in(gradients)
        self.whole.grad = self._gradient  # of which others may have dropped the reference
        return self._gradient

    def _take_in(self, gradients: Sequence[Tensor | None]) -> None:
        for parameter, gradient, part in zip(self.parameters, gradients, self._parts, strict=True):
            if gradient is not part:
                part.copy_(torch.zeros_like(part) if gradient is None else gradient)
                parameter.grad = part


def split(vector: Tensor, shapes: Sequence[torch.Size]) -> list[Tensor]:
    """Return the parts of a vector in some shapes that fill it; they share its memory."""
    parts = vector.split([shape.numel() for shape in shapes])
    return [part.view(shape) for part, shape in zip(parts, shapes, strict=True)]
