"""Initialise parameters as the paper or as fairseq does (``init=paper|fairseq``)."""

from collections.abc import Callable

from torch import nn

from .placement import Placement


def paper(model: nn.Module) -> None:
    """Draw matrices from Gaussian Xavier, ``N(0, 2 / (n_in + n_out))``, zero biases (Xiong et al. 2020, section 3.3).

    Embeddings, and an output projection tied to them or not, keep fairseq's ``N(0, 1/d)``, which is the paper's too;
    LayerNorms start at γ = 1, β = 0.
    """
    for name, module in model.named_modules():
        if isinstance(module, nn.Linear) and not name.endswith("output_projection"):
            nn.init.xavier_normal_(module.weight)
            if module.bias is not None:
                nn.init.zeros_(module.bias)


def fairseq(model: nn.Module) -> None:
    """Leave the model as fairseq built it.

    That is uniform Xavier for attention with gain 1/√2 for query, key and value, and a bare ``nn.Linear`` for the FFN,
    whose second matrix then has half the standard deviation of Xavier's.
    """


def initialise(model: nn.Module, how: str) -> None:
    """Initialise a model or a layer in place: as ``how`` says, then as each layer's placement asks."""
    INITIALISATIONS[how](model)
    for layer in list(model.modules()):
        placement = getattr(layer, "placement", None)
        if isinstance(placement, Placement):
            placement.initialise(layer)


#: The ways to initialise, by name.
INITIALISATIONS: dict[str, Callable[[nn.Module], None]] = {"paper": paper, "fairseq": fairseq}
