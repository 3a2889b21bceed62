"""The kinds of normalisation that a model may have, by name. Each kind is one file in ``norms/``."""

from collections.abc import Callable

from torch import nn

from .registered_names import refuse_second

#: Makes a normalisation over so many channels.
Norm = Callable[[int], nn.Module]
#: The registered kinds by name.
NORMS: dict[str, Norm] = {}


def register_norm(name: str) -> Callable[[Norm], Norm]:
    """Decorator of a class or function: register it as a value of the model's option ``norm``."""

    def register(norm: Norm) -> Norm:
        refuse_second(NORMS, name)
        NORMS[name] = norm
        return norm

    return register
