"""Initialise parameters as ``init=paper|fairseq`` says, or as the paper of a placement states."""

import math
from collections.abc import Callable

from torch import nn

from .placement import Placement

#: Draws the parameters of one linear map in place, given its dotted name in the model.
Draw = Callable[[nn.Linear, str], None]


def paper(linear: nn.Linear, name: str) -> None:
    """Draw from Gaussian Xavier, ``N(0, 2 / (n_in + n_out))``, with a zero bias (Xiong et al. 2020, section 3.3)."""
    nn.init.xavier_normal_(linear.weight)
    _zero_bias(linear)


def fairseq(linear: nn.Linear, name: str) -> None:
    """Leave the parameters as fairseq built them.

    That is uniform Xavier for attention with gain 1/√2 for query, key and value, and a bare ``nn.Linear`` for the FFN,
    whose second matrix then has half the standard deviation of Xavier's.
    """


def xavier_uniform(linear: nn.Linear, name: str) -> None:
    """Draw from uniform Xavier with a zero bias; query, key and value as one matrix, which is a gain of 1/√2.

    So did fairseq until 2019, and Admin's code with it.
    """
    one_of_three = name.endswith(("q_proj", "k_proj", "v_proj"))
    nn.init.xavier_uniform_(linear.weight, gain=1 / math.sqrt(2) if one_of_three else 1)
    _zero_bias(linear)


def torch_transformer(linear: nn.Linear, name: str) -> None:
    """Draw as ``torch.nn.Transformer`` does: as :func:`xavier_uniform`, but FFN biases are from ``U(±1/√n_in)``."""
    xavier_uniform(linear, name)
    if name.endswith(("fc1", "fc2")):
        bound = 1 / math.sqrt(linear.in_features)
        nn.init.uniform_(linear.bias, -bound, bound)


def _zero_bias(linear: nn.Linear) -> None:
    if linear.bias is not None:
        nn.init.zeros_(linear.bias)


#: What a model's option ``init`` may be.
INITIALISATIONS: dict[str, Draw] = {"paper": paper, "fairseq": fairseq}
#: The draws by name, with those that only a placement's :attr:`~.placement.Placement.starts_from` names.
DRAWS: dict[str, Draw] = INITIALISATIONS | {"xavier_uniform": xavier_uniform, "torch_transformer": torch_transformer}


def initialise(model: nn.Module, how: str) -> None:
    """Initialise a model or a layer in place: draw as ``how`` says, then change it as each layer's placement asks.

    A layer whose placement states an initialisation of its own is drawn by that, whatever ``how`` is. Embeddings, and
    an output projection tied to them or not, keep fairseq's ``N(0, 1/d)``; LayerNorms start at γ = 1, β = 0.
    """
    draws = {"": how}
    for name, module in model.named_modules():
        placement = _placement_of(module)
        draws[name] = (placement and placement.starts_from) or draws[name.rpartition(".")[0]]
        if isinstance(module, nn.Linear) and not name.endswith("output_projection"):
            DRAWS[draws[name]](module, name)
    for layer in list(model.modules()):
        if placement := _placement_of(layer):
            placement.initialise(layer)


def _placement_of(module: nn.Module) -> Placement | None:
    """Return the placement of a layer; None for any other module."""
    placement = getattr(module, "placement", None)
    return placement if isinstance(placement, Placement) else None
