"""Have the sublayers of an encoder give again what they gave, or something else."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from typing import Any

import torch
from torch import Tensor

from lnexp.plugin.placement import Block, Sublayer
from lnexp.theory.models import kept_positions

#: What stands for a sublayer: it gets its number in the encoder, from 0, the sublayer and what that is given.
Stand = Callable[[int, Sublayer, Tensor], Tensor]


def recorded(model: Any, net_input: dict[str, Any]) -> tuple[list[Tensor], Tensor]:
    """Return what each sublayer of an encoder gives, ``(time, batch, d)``, and the output of each residual block.

    Args:
        model: one of ours with an encoder, in evaluation mode.
        net_input: of a batch.

    Returns:
        What :func:`replayed` takes, and what it returns for it.
    """
    branches: list[Tensor] = []

    def kept(_: int, sublayer: Sublayer, into: Tensor) -> Tensor:
        branches.append(sublayer(into))
        return branches[-1]

    return branches, _outputs(model, net_input, kept)


def replayed(model: Any, net_input: dict[str, Any], branches: Sequence[Tensor]) -> Tensor:
    """Return the output of each residual block if sublayers give this: ``(blocks, positions, d)``, padding left out."""
    return _outputs(model, net_input, lambda number, _, __: branches[number])


def _outputs(model: Any, net_input: dict[str, Any], stand: Stand) -> Tensor:
    with _replaced(model.encoder.layers, stand) as outputs:
        model.encoder(net_input["src_tokens"], net_input["src_lengths"])
    kept = kept_positions(model, net_input)["encoder"]
    return torch.stack([output[kept] for output in outputs])


@contextmanager
def _replaced(layers: Any, stand: Stand) -> Iterator[list[Tensor]]:
    """Within the ``with`` block, have something stand for each sublayer, and yield a list of the blocks' outputs."""
    outputs: list[Tensor] = []

    def replace_in(placement: Any, first: int) -> None:
        forward, connect = type(placement).forward, type(placement).connect

        def with_stands(x: Tensor, blocks: Sequence[Block]) -> Tensor:
            stands = [replace(block, sublayer=partial(stand, first + block.number, block.sublayer)) for block in blocks]
            return forward(placement, x, stands)

        def seen(x: Tensor, block: Block) -> Tensor:
            outputs.append(connect(placement, x, block))
            return outputs[-1]

        placement.forward, placement.connect = with_stands, seen

    first = 0
    for layer in layers:
        replace_in(layer.placement, first)
        first += layer.placement.where.blocks
    try:
        yield outputs
    finally:
        for layer in layers:
            del layer.placement.forward, layer.placement.connect
