"""Placements: where a layer normalises its residual blocks. The one thing that differs between the paper's models."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any, Literal

from torch import Tensor, nn

from .norm import Norm

Sublayer = Callable[[Tensor], Tensor]
#: The two stacks of layers that a model may have.
Side = Literal["encoder", "decoder"]


def option(default: Any, help_text: str) -> Any:
    """Return a dataclass field with a default and the help text that fairseq's command line shows."""
    return field(default=default, metadata={"help": help_text})


@dataclass(frozen=True)
class FirstBatch:
    """What placements know while the first batch goes through the model, before the first update.

    Attributes:
        kept: which positions are no padding, by side, each ``(time, batch)``.
        carried: what a layer passes to the next layer of its side.
    """

    kept: dict[Side, Tensor]
    carried: dict[Side, Tensor] = field(default_factory=dict)


@dataclass(frozen=True)
class Where:
    """The layer of the model that a placement is in.

    Attributes:
        side: the stack that has the layer.
        number: the layer's number in its stack, from 1.
        encoder_layers: how many encoder layers the model has; 0 where it has no encoder.
        decoder_layers: how many decoder layers the model has; 0 where it has no decoder.
        width: d, the channels of the residual stream.
        norm: makes a normalisation of the model's kind over so many channels.
    """

    side: Side
    number: int
    encoder_layers: int
    decoder_layers: int
    width: int
    norm: Norm = nn.LayerNorm

    @property
    def layers(self) -> int:
        """How many layers the stack has."""
        return self.encoder_layers if self.side == "encoder" else self.decoder_layers

    @property
    def blocks(self) -> int:
        """How many residual blocks the layer has: attention to itself, to the source in a decoder, and the FFN."""
        return 2 if self.side == "encoder" else 3


@dataclass(frozen=True)
class Block:
    """One residual block of a layer.

    Attributes:
        number: the block's number in its layer, from 0.
        sublayer: attention or feed-forward network, its dropout included; keeps the shape. It can be called once.
        norm: the block's LayerNorm; keeps the shape.
    """

    number: int
    sublayer: Sublayer
    norm: Sublayer


class Placement(nn.Module, ABC):
    """How the residual blocks of a layer join their input, their sublayer and their layer normalisation.

    A subclass defines :meth:`connect` and :attr:`final_norm`, and overrides what else differs; the rest of the model
    does not know which placement it has. Each layer has its own instance, whose parameters are the model's. All
    attributes below may be set per instance, so that they can depend on the layer or on options.

    Args:
        where: the layer that the placement is in.
        options: the placement's own options, an instance of the dataclass that it was registered with, or None.
    """

    #: Whether a stack whose last layer has this placement ends with a LayerNorm over its last hidden state.
    final_norm: bool
    #: Whether each block has a LayerNorm; if not, ``Block.norm`` is the identity.
    block_norms: bool = True
    #: Whether the blocks of attention have one, where blocks have it.
    attention_block_norms: bool = True
    #: Which of attention's queries, keys and values (``q``, ``k``, ``v``) are normalised, head by head; the model's
    #: ``qk_norm`` adds the first two.
    head_norms: frozenset[str] = frozenset()
    #: Whether sublayers contain a LayerNorm too: before self-attention's output projection and before W².
    inner_norms: bool = False
    #: What the placement's paper or code states that weights are drawn from, a name of
    #: :data:`.initialisation.DRAWS`; None: the model's ``init`` decides.
    starts_from: str | None = None

    def __init__(self, where: Where, options: Any = None):
        super().__init__()
        self.where = where
        self.first_batch: FirstBatch | None = None  # set only while the first batch goes through the model

    def wants_first_batch(self) -> bool:
        """Return whether it must see a batch before the first update, see :mod:`.first_batch`."""
        return False

    @abstractmethod
    def connect(self, x: Tensor, block: Block) -> Tensor:
        """Return the block's output, ``(time, batch, channel)``.

        Args:
            x: the residual stream, ``(time, batch, channel)``.
            block: its sublayer and norm.
        """

    def forward(self, x: Tensor, blocks: Sequence[Block]) -> Tensor:
        """Return the layer's output: its blocks, one after another."""
        for block in blocks:
            x = self.connect(x, block)
        return x

    def initialise(self, layer: nn.Module) -> None:
        """Change the parameters of an initialised layer in place; does nothing unless a placement overrides it."""

    def end(self, final_norm: nn.Module) -> nn.Module:
        """Return the module that a stack ends with, given its final LayerNorm; asked of the last layer's placement."""
        return final_norm


#: Makes the placement of one layer from its place in the model and the placement's own options (None: it has none).
PlacementFactory = Callable[[Where, Any], Placement]


@dataclass(frozen=True)
class RegisteredPlacement:
    """A placement as models know it by name.

    Attributes:
        name: as in ``model=<name>`` and ``--arch lnexp_<name>``.
        factory: makes the placement of one layer; a class, or a function that may choose one by the layer's number.
        options: the dataclass of its own options, or None.
    """

    name: str
    factory: PlacementFactory
    options: type | None = None

    def option_name(self, name: str) -> str:
        """Return what the model calls an option of the placement: ``<placement>_<option>``."""
        return f"{self.name}_{name}"

    def at(self, where: Where, model_options: Mapping[str, Any]) -> Placement:
        """Return the placement of one layer.

        Args:
            where: the layer.
            model_options: the model's options; what they lack of the placement's own has its default.

        Raises:
            ValueError: for one that does not say whether a stack ends with a LayerNorm.
        """
        layer = self.factory(where, self._own(model_options))
        if not hasattr(layer, "final_norm"):
            raise ValueError(f"{type(layer).__name__} does not say whether a stack ends with a norm: set final_norm")
        return layer

    def _own(self, model_options: Mapping[str, Any]) -> Any:
        """Return the placement's own options out of the model's, or None where it has none.

        Raises:
            ValueError: for a value that the options refuse. Their own error begins with the option's name, this one
                with the model's.
        """
        if self.options is None:
            return None
        names = {known.name: self.option_name(known.name) for known in fields(self.options)}
        try:
            return self.options(**{own: model_options[full] for own, full in names.items() if full in model_options})
        except ValueError as error:
            raise ValueError(self.option_name(str(error))) from None
