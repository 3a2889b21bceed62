"""FixNorm: word embeddings of length 1 (Nguyen & Salazar 2019, section 2.3)."""

from torch import Tensor, nn
from torch.nn import functional

from .norms.scale_norm import unit_length

EPS = 1e-5  # of a length; the embedding of padding is 0


class FixNormEmbedding(nn.Embedding):
    """Looks up embeddings divided by their length."""

    def forward(self, tokens: Tensor) -> Tensor:
        """``(batch, time)`` to ``(batch, time, channel)``."""
        return unit_length(super().forward(tokens), EPS)


class FixNormProjection(nn.Module):
    """Scores of words by their embeddings, ``(words, channel)``, divided by their length."""

    def __init__(self, weight: nn.Parameter):
        super().__init__()
        self.weight = weight

    def forward(self, x: Tensor) -> Tensor:
        """``(…, channel)`` to ``(…, words)``."""
        return functional.linear(x, unit_length(self.weight, EPS))
