"""FixNorm: word embeddings of length 1 (Nguyen & Salazar 2019, section 2.3)."""

from torch import Tensor, nn
from torch.nn import functional


class FixNormEmbedding(nn.Embedding):
    """Looks up embeddings divided by their length."""

    def forward(self, tokens: Tensor) -> Tensor:
        """``(batch, time)`` to ``(batch, time, channel)``."""
        return functional.normalize(super().forward(tokens), dim=-1)


class FixNormProjection(nn.Module):
    """Scores of words by their embeddings, ``(words, channel)``, divided by their length."""

    def __init__(self, weight: nn.Parameter):
        super().__init__()
        self.weight = weight

    def forward(self, x: Tensor) -> Tensor:
        """``(…, channel)`` to ``(…, words)``."""
        return functional.linear(x, functional.normalize(self.weight, dim=-1))
