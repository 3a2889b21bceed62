"""Have the sublayers of an encoder give again what they gave, or something else."""

import itertools
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from typing import Any

import torch
from torch import Tensor, nn

from lnexp.errors import UserError
from lnexp.plugin.placement import Block, Placement, Sublayer
from lnexp.theory.models import kept_positions

#: What gives the output in place of a sublayer, of its number in the encoder, from 0, itself and what it is given.
StandIn = Callable[[int, Sublayer, Tensor], Tensor]


def recorded(model: Any, net_input: dict[str, Any]) -> tuple[list[Tensor], Tensor]:
    """Return what each sublayer of an encoder gives, ``(time, batch, d)``, and the output of each residual block.

    Args:
        model: one of ours with an encoder, in evaluation mode.
        net_input: of a batch.

    Returns:
        What :func:`replayed` takes, and what it returns for it.

    Raises:
        UserError: as :func:`joined` does.
    """
    branches: list[Tensor] = []

    def kept(_: int, sublayer: Sublayer, into: Tensor) -> Tensor:
        branches.append(sublayer(into))
        return branches[-1]

    return branches, _outputs(model, net_input, kept)


def replayed(model: Any, net_input: dict[str, Any], branches: Sequence[Tensor]) -> Tensor:
    """Return the output of each residual block if sublayers give this: ``(blocks, positions, d)``, padding left out."""
    return _outputs(model, net_input, lambda number, _, __: branches[number])


@contextmanager
def instead(modules: Sequence[nn.Module], **methods: Callable[..., Any]) -> Iterator[None]:
    """Within the ``with`` block, have functions stand for methods of modules; each gets its module first."""
    for module, (name, function) in itertools.product(modules, methods.items()):
        setattr(module, name, partial(function, module))
    try:
        yield
    finally:
        for module, name in itertools.product(modules, methods):
            delattr(module, name)


def joined(model: Any, net_input: dict[str, Any], connect: Callable[[Placement, Tensor, Block], Tensor]) -> None:
    """Run an encoder in which something stands for the ``connect`` of its placements.

    Raises:
        UserError: for a placement that does not join each block of a layer by its ``connect``.
    """
    placements = [layer.placement for layer in model.encoder.layers]
    calls = 0

    def counted(placement: Placement, x: Tensor, block: Block) -> Tensor:
        nonlocal calls
        calls += 1
        return connect(placement, x, block)

    with instead(placements, connect=counted):
        model.encoder(net_input["src_tokens"], net_input["src_lengths"])
    if calls != sum(placement.where.blocks for placement in placements):
        raise UserError("dependency: the placement does not join each block of a layer by its connect")


def _outputs(model: Any, net_input: dict[str, Any], stand_in: StandIn) -> Tensor:
    placements = [layer.placement for layer in model.encoder.layers]
    firsts = [0, *itertools.accumulate(placement.where.blocks for placement in placements)]
    first_of = dict(zip(placements, firsts, strict=False))
    outputs: list[Tensor] = []

    def forward(placement: Placement, x: Tensor, blocks: Sequence[Block]) -> Tensor:
        first = first_of[placement]
        standing = [replace(one, sublayer=partial(stand_in, first + one.number, one.sublayer)) for one in blocks]
        return type(placement).forward(placement, x, standing)

    def connect(placement: Placement, x: Tensor, block: Block) -> Tensor:
        outputs.append(type(placement).connect(placement, x, block))
        return outputs[-1]

    with instead(placements, forward=forward):
        joined(model, net_input, connect)
    kept = kept_positions(model, net_input)["encoder"]
    return torch.stack([output[kept] for output in outputs])
