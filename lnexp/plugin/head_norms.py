"""Normalise attention's queries, keys or values, head by head, after their projection."""

from collections.abc import Iterable
from typing import Any

from torch import Tensor, nn

from .norm import Norm


class NormalisedProjection(nn.Linear):
    """A linear map whose output is normalised over the channels of each head; the heads share one norm.

    The map's own parameters keep their names; those of the norm are ``norm.…``.
    """

    heads: int
    norm: nn.Module

    def forward(self, x: Tensor) -> Tensor:
        """Return the normalised projections, ``(time, batch, channel)``."""
        return by_heads(self.norm, super().forward(x), self.heads)


def by_heads(norm: nn.Module, x: Tensor, heads: int) -> Tensor:
    """Return ``x`` with the channels of each head normalised; takes and returns ``(time, batch, channel)``."""
    return norm(x.unflatten(2, (heads, -1))).flatten(2)


def normalise_heads(attention: Any, which: Iterable[str], norm: Norm) -> None:
    """Normalise what an attention projects to, in place.

    Args:
        attention: one of fairseq's.
        which: of its queries, keys and values: ``q``, ``k``, ``v``.
        norm: makes a normalisation over so many channels.
    """
    for name in sorted(which):
        projection = getattr(attention, f"{name}_proj")
        projection.__class__ = NormalisedProjection
        projection.heads, projection.norm = attention.num_heads, norm(attention.head_dim)
        # otherwise fairseq leaves attention to torch, which takes only a projection's weight
        attention.skip_embed_dim_check = True
