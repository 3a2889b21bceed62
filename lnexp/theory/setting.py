"""The simplified Transformer that the paper's lemmas are about."""

import torch
from fairseq.models.transformer import TransformerConfig
from torch import Tensor, nn
from torch.nn import functional

import lnexp.plugin  # noqa: F401  (registers the placements)
from lnexp.errors import UserError, near_names
from lnexp.plugin.first_batch import show_first_batch
from lnexp.plugin.initialisation import initialise
from lnexp.plugin.layers import ATTENTIONS, DecoderLayer, EncoderLayer
from lnexp.plugin.model import PLACEMENTS
from lnexp.plugin.placement import Placement, RegisteredPlacement, Side, Where
from lnexp.theory.hidden_states import hidden_norms


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

    With ``sources`` the layers are a decoder's, which the paper leaves out: between self-attention and FFN they attend,
    in the same way, to a source of so many independent positions from ``N(0, 1)``, which all inputs share. It has no
    encoder before it; placements are told of one with as many layers. Self-attention is to all positions, as above.
    """

    source: Tensor | None

    def __init__(self, placement: str, layers: int, width: int, sources: int = 0):
        super().__init__()
        if layers < 1 or width < 1:
            raise UserError(f"layers={layers}, width={width}: both must be at least 1")
        self.width = width
        chosen = placement_named(placement)
        self.side: Side = "decoder" if sources else "encoder"
        decoder_layers = layers if sources else 0
        places = [Where(self.side, number + 1, layers, decoder_layers, width) for number in range(layers)]
        placements = [chosen.at(where, {}) for where in places]
        self.layers = nn.ModuleList(map(_layer, placements))
        last = placements[-1]
        self.final_norm = last.end(nn.LayerNorm(width)) if last.final_norm else nn.Identity()
        self.register_buffer("source", torch.randn(sources, 1, width) if sources else None)
        self.double()

    @property
    def last_w2(self) -> Tensor:
        """The second matrix of the last FFN, ``W^{2,L}``: ``(d, d)``."""
        return self.get_parameter(f"layers.{len(self.layers) - 1}.fc2.weight")

    def show_first_batch(self, x: Tensor) -> None:
        """Let placements that set their parameters from a batch do so, unless they have: ``(positions, batch, d)``."""
        show_first_batch(self, lambda: self._through(x), {self.side: torch.ones(x.shape[:2], dtype=torch.bool)})

    def forward(self, x: Tensor) -> Tensor:
        """Return what the prediction is made from; takes and returns ``(positions, batch, d)``."""
        self.show_first_batch(x)
        return self.final_norm(self._through(x))

    @torch.no_grad()
    def source_variances(self) -> list[float]:
        """Return the variance of the output of each layer's attention to the source, the mean square over channels.

        It depends on the source alone, whatever the layers are given.
        """
        attentions = nn.ModuleList(layer.get_submodule("encoder_attn") for layer in self.layers)
        with hidden_norms(attentions, "output") as norms:
            self._through(torch.zeros(1, 1, self.width, dtype=torch.float64))
        return [float(norm.mean()) / self.width for norm in norms]

    def _through(self, x: Tensor) -> Tensor:
        for layer in self.layers:
            if self.source is None:
                x = layer(x, None)
            else:
                x, *_ = layer(x, self.source.expand(-1, x.size(1), -1), None)
        return x


def _layer(placement: Placement) -> EncoderLayer | DecoderLayer:
    """Return an initialised layer of the setting."""
    width = placement.where.width
    options = {"embed_dim": width, "ffn_embed_dim": width, "attention_heads": 1}
    sides = {"encoder": TransformerConfig.encoder(**options), "decoder": TransformerConfig.decoder(**options)}
    kind = EncoderLayer if placement.where.side == "encoder" else DecoderLayer
    layer = kind(TransformerConfig(**sides, dropout=0.0), placement)
    initialise(layer, "paper")
    for attention in filter(None, (getattr(layer, name, None) for name in ATTENTIONS)):
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
    width = stack.width
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
