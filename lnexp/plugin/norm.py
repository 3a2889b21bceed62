"""What normalises: the second axis beside where it does. Each kind is one file in ``norms/``."""

from collections.abc import Callable

from torch import nn

#: Makes a normalisation over so many channels.
Norm = Callable[[int], nn.Module]
#: The registered kinds by name.
NORMS: dict[str, Norm] = {}


def register_norm(name: str) -> Callable[[Norm], Norm]:
    """Decorator of a class or function: the model's option ``norm`` knows it by this name."""

    def register(norm: Norm) -> Norm:
        NORMS[name] = norm
        return norm

    return register
