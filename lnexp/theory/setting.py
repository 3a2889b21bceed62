"""The simplified Transformer that the paper's lemmas are about."""

import torch
from fairseq.models.transformer import TransformerConfig
from torch import Tensor, nn
from torch.nn import functional

import lnexp.plugin  # noqa: F401  (registers the placements)
from lnexp.errors import UserError, near_names
from lnexp.plugin.first_batch import show_first_batch
from lnexp.plugin.initialisation import initialise
from lnexp.plugin.layers import EncoderLayer
from lnexp.plugin.model import PLACEMENTS
from lnexp.plugin.placement import Placement, RegisteredPlacement, Where


def placement_named(name: str) -> RegisteredPlacement:
    """Return a registered placement.

    Raises:
        UserError: where there is none of that name.
    """
    if name not in PLACEMENTS:
        raise UserError(f"placement={name}: there is none; {near_names(name, PLACEMENTS)}")
    return PLACEMENTS[name]


class Stack(nn.Module):
    """``L`` layers of width ``d`` in the setting of the paper's analysis (Xiong et al. 2020, section 3.3).

    One head with ``W^Q = W^K = 0``, so that attention is the mean over all positions of ``x W^V``; every matrix
    ``d × d``, drawn from ``N(0, 1/d)``; zero biases; LayerNorms at γ = 1, β = 0; no dropout. In double precision.

    The layers are those of the models that are trained, whatever the placement, which has the defaults of its options.
    A placement that states an initialisation of its own (``Placement.starts_from``) has that one instead, but for the
    output projection of attention, which is the identity.
    """

    def __init__(self, placement: str, layers: int, width: int):
        super().__init__()
        if layers < 1 or width < 1:
            raise UserError(f"layers={layers}, width={width}: both must be at least 1")
        chosen = placement_named(placement)
        placements = [chosen.at(Where("encoder", number + 1, layers, 0, width), {}) for number in range(layers)]
        self.layers = nn.ModuleList(map(_layer, placements))
        last = placements[-1]
        self.final_norm = last.end(nn.LayerNorm(width)) if last.final_norm else nn.Identity()
        self.double()

    @property
    def last_w2(self) -> Tensor:
        """The second matrix of the last FFN, ``W^{2,L}``: ``(d, d)``."""
        return self.get_parameter(f"layers.{len(self.layers) - 1}.fc2.weight")

    def show_first_batch(self, x: Tensor) -> None:
        """Let placements that set their parameters from a batch do so, unless they have: ``(positions, batch, d)``."""
        show_first_batch(self, lambda: self._through(x), {"encoder": torch.ones(x.shape[:2], dtype=torch.bool)})

    def forward(self, x: Tensor) -> Tensor:
        """Return what the prediction is made from; takes and returns ``(positions, batch, d)``."""
        self.show_first_batch(x)
        return self.final_norm(self._through(x))

    def _through(self, x: Tensor) -> Tensor:
        for layer in self.layers:
            x = layer(x, None)
        return x


def _layer(placement: Placement) -> EncoderLayer:
    """Return an initialised layer of the setting."""
    width = placement.where.width
    options = {"embed_dim": width, "ffn_embed_dim": width, "attention_heads": 1}
    layer = EncoderLayer(TransformerConfig(encoder=TransformerConfig.encoder(**options), dropout=0.0), placement)
    initialise(layer, "paper")
    attention = layer.self_attn
    for projection in (attention.q_proj, attention.k_proj):
        nn.init.zeros_(projection.weight)
    *_, output = attention.out_proj if isinstance(attention.out_proj, nn.Sequential) else (attention.out_proj,)
    nn.init.eye_(output.get_parameter("weight"))  # the setting has W^V alone; Sub-LN has a norm before it
    return layer


def loss_of_random_targets(stack: Stack, positions: int, inputs: int, words: int, std: float) -> Tensor:
    """Return the loss of predicting random words from Gaussian inputs, the mean over positions and inputs.

    Args:
        stack: what predicts.
        positions: of an input.
        inputs: number of inputs.
        words: size of the vocabulary.
        std: of the entries of the words' Gaussian embeddings.
    """
    width = stack.last_w2.size(0)
    x = torch.randn(positions, inputs, width, dtype=torch.float64)
    embeddings = std * torch.randn(words, width, dtype=torch.float64)
    targets = torch.randint(words, (positions, inputs))
    return prediction_loss(stack(x), embeddings, targets)


def prediction_loss(hidden: Tensor, embedding: Tensor, target: Tensor) -> Tensor:
    """Return the cross-entropy, mean over positions, of predicting ``target`` by the embeddings' softmax (section 3.3).

    Args:
        hidden: ``(positions, batch, d)``.
        embedding: ``(words, d)``.
        target: ``(positions, batch)``.
    """
    logits = hidden @ embedding.t()
    return functional.cross_entropy(logits.flatten(0, 1), target.flatten())
