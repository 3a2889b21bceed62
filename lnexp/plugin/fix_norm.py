"""FixNorm: word embeddings of length 1 (Nguyen & Salazar 2019, section 2.3).

Before training they are drawn as all embeddings of a model. The authors draw them between -0.01 and 0.01, so short that
Adam turns them faster at first.
"""

from torch import Tensor, nn
from torch.nn import functional

from .norms.scale_norm import unit_length

EPS = 1e-5  # of a length; the embedding of padding is 0


class FixNormEmbedding(nn.Embedding):
    """An embedding that returns words' vectors divided by their length."""

    def forward(self, tokens: Tensor) -> Tensor:
        """Return the vectors of tokens ``(batch, time)``: ``(batch, time, channel)``."""
        return unit_length(super().forward(tokens), EPS)


class FixNormProjection(nn.Module):
    """An output projection by the words' embeddings, ``(words, channel)``, divided by their length."""

    def __init__(self, weight: nn.Parameter):
        super().__init__()
        self.weight = weight

    def forward(self, x: Tensor) -> Tensor:
        """Return the scores of all words, ``(…, words)``, for hidden states ``(…, channel)``."""
        return functional.linear(x, unit_length(self.weight, EPS))
