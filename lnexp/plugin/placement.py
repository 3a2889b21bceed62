"""The one thing that differs between the paper's two Transformers: where a sublayer is normalised."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import ClassVar, Literal

from torch import Tensor, nn

from .norm import Norm

Sublayer = Callable[[Tensor], Tensor]


@dataclass(frozen=True)
class Profile:
    """What placements know while a batch goes through the model before training.

    Attributes:
        kept: which positions are no padding, by side, each ``(time, batch)``.
        carried: what a layer hands on to the next of its side.
    """

    kept: dict[str, Tensor]
    carried: dict[str, Tensor] = field(default_factory=dict)


@dataclass(frozen=True)
class Where:
    """Which layer of which model a placement is in.

    Attributes:
        side: the stack that the layer is in.
        encoder_layers: how many the model has there.
        decoder_layers: how many the model has there.
        width: d, the channels of the residual stream.
        norm: makes a normalisation of the model's kind over so many channels.
    """

    side: Literal["encoder", "decoder"]
    encoder_layers: int
    decoder_layers: int
    width: int
    norm: Norm = nn.LayerNorm

    @property
    def layers(self) -> int:
        """How many the model has on the layer's side."""
        return self.encoder_layers if self.side == "encoder" else self.decoder_layers

    @property
    def blocks(self) -> int:
        """How many residual blocks the layer has: attention to itself, to the source in a decoder, and the FFN."""
        return 2 if self.side == "encoder" else 3


@dataclass(frozen=True)
class Block:
    """One residual block of a layer.

    Attributes:
        number: from 0, in its layer.
        sublayer: attention or feed-forward network, its dropout included; keeps the shape.
        norm: the block's LayerNorm; keeps the shape.
    """

    number: int
    sublayer: Sublayer
    norm: Sublayer


class Placement(nn.Module):
    """How the residual blocks of a layer join their input, their sublayer and their layer normalisation.

    A subclass states :meth:`connect` and :attr:`final_norm`, and whatever else is different with it; nothing else in
    the model knows which placement it has. Each layer has one of its own, whose parameters are the model's.
    """

    #: Whether encoder and decoder each end with a LayerNorm over the last hidden state.
    final_norm: ClassVar[bool]
    #: Whether each block has a LayerNorm; where not, ``norm`` leaves everything as it is.
    block_norms: ClassVar[bool] = True
    #: Whether there is a LayerNorm within sublayers, too: before self-attention's output projection and before W².
    inner_norms: ClassVar[bool] = False

    def __init__(self, where: Where):
        super().__init__()
        self.where = where
        self.profile: Profile | None = None  # in a pass that the placement has asked for

    def asks_for_profile(self) -> bool:
        """Whether it needs a pass over a batch before the first update, see :mod:`.first_batch`."""
        return False

    def connect(self, x: Tensor, block: Block) -> Tensor:
        """Return the block's output.

        Args:
            x: the residual stream, ``(time, batch, channel)``.
            block: its sublayer and norm.
        """
        raise NotImplementedError(f"{type(self).__name__} does not say how a block is connected")

    def forward(self, x: Tensor, blocks: Sequence[Block]) -> Tensor:
        """Return the layer's output: its blocks, one after another."""
        for block in blocks:
            x = self.connect(x, block)
        return x

    def initialise(self, layer: nn.Module) -> None:
        """Change the layer's parameters, which are initialised already; leaves them unless a placement asks for it."""

    @classmethod
    def end(cls, final_norm: nn.Module) -> nn.Module:
        """What a stack ends with where it has a ``final_norm``: that, unless a placement asks for more."""
        return final_norm
