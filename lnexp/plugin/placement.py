"""The one thing that differs between the paper's two Transformers: where a sublayer is normalised."""

from collections.abc import Callable
from typing import ClassVar

from torch import Tensor

Sublayer = Callable[[Tensor], Tensor]


class Placement:
    """How one residual block joins its input, its sublayer and its layer normalisation.

    A subclass states :meth:`connect` and :attr:`final_norm`; nothing else in the model knows which placement it has.
    """

    #: Whether encoder and decoder each end with a LayerNorm over the last hidden state.
    final_norm: ClassVar[bool]

    def connect(self, x: Tensor, sublayer: Sublayer, norm: Sublayer) -> Tensor:
        """Return the block's output.

        Args:
            x: the residual stream, ``(time, batch, channel)``.
            sublayer: attention or feed-forward network, its dropout included; keeps the shape.
            norm: the block's LayerNorm; keeps the shape.
        """
        raise NotImplementedError(f"{type(self).__name__} does not say how a block is connected")
