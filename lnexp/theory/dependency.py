"""Measure how much of a residual block's output comes from its sublayer, and how much from earlier ones."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import torch
from torch import Tensor

from lnexp.errors import UserError
from lnexp.plugin.placement import Block
from lnexp.theory.models import ProbedModel, kept_positions

#: Of the noise that a sublayer's output gets, against its own deviation. Shares are exact as it goes to 0.
NOISE = 0.01


@torch.no_grad()
def own_shares(probed: ProbedModel) -> list[float]:
    """Return each encoder sublayer's share of the variance of its block's output, ``Var[f] / Var[x + f]``.

    Liu et al. 2020, section 4, call it the dependency on the residual branch, β̂²_{i,i}. It is measured in one way for
    all placements: the sublayer's output gets Gaussian noise of :data:`NOISE` times its own deviation, and the share is
    the variance of what this changes in the block's output, over that of the output and of the noise. So what the
    placement does to the branch or to the sum is included; a LayerNorm over d channels takes 2/d of the noise away.
    Variances are over channels, with the mean over all positions, padding left out. A block that has two streams
    (ResiDual) is measured on both together.

    Args:
        probed: a model with an encoder, in evaluation mode.

    Raises:
        UserError: for a placement that does not join all blocks of a layer one by one (B2T).
    """
    seen: list[list[Tensor]] = []
    for batch in probed.batches:
        kept = kept_positions(probed.model, batch["net_input"])["encoder"]
        with _noise_in_blocks(probed.model.encoder.layers, kept) as variances:
            probed.model.encoder(batch["net_input"]["src_tokens"], batch["net_input"]["src_lengths"])
        seen.append(variances)
        if len(variances) != sum(layer.placement.where.blocks for layer in probed.model.encoder.layers):
            raise UserError("dependency: the placement does not join the blocks of a layer one by one")
    by_block = [torch.stack(of_block).sum(dim=0).tolist() for of_block in zip(*seen, strict=True)]
    return [changed / (NOISE**2 * there) for changed, there in by_block]


def shares_of_all(own: list[float]) -> list[list[float]]:
    """Return the share of each sublayer j ≤ i in the variance of the stream after block i, if it is only passed on.

    ``own_j Π_{k=j+1}^{i} (1 − own_k)``, which is β̂²_{i,j} of Liu et al. 2020, section 4: branches do not answer to what
    they are given, and are taken as uncorrelated. What is missing to 1 in a row is the share of the embedding.

    Args:
        own: of :func:`own_shares`.
    """
    rows: list[list[float]] = []
    for mine in own:
        rows.append([share * (1 - mine) for share in (rows[-1] if rows else [])] + [mine])
    return rows


@contextmanager
def _noise_in_blocks(layers: Any, kept: Tensor) -> Iterator[list[Tensor]]:
    """Within the ``with`` block, compute each residual block a second time, with noise in what its sublayer gives.

    Yields:
        A list that gets ``(2,)`` a block: the variance of the change of its output and that of the output, each summed
        over channels and positions.
    """
    variances: list[Tensor] = []

    def measured(placement: Any) -> None:
        connect = type(placement).connect

        def twice(x: Tensor, block: Block) -> Tensor:
            given: list[Tensor] = []

            def kept_for_later(into: Tensor) -> Tensor:
                given.append(block.sublayer(into))
                return given[0]

            out = connect(placement, x, replace(block, sublayer=kept_for_later))
            (branch,) = given
            noisy = branch + NOISE * branch.std(dim=-1, keepdim=True, correction=0) * torch.randn_like(branch)
            changed = connect(placement, x, replace(block, sublayer=lambda _: noisy)) - out
            variances.append(torch.stack([_variance(changed[kept]), _variance(out[kept])]))
            return out

        placement.connect = twice

    for layer in layers:
        measured(layer.placement)
    try:
        yield variances
    finally:
        for layer in layers:
            del layer.placement.connect


def _variance(x: Tensor) -> Tensor:
    """Return the variance over channels, summed over channels and positions: ``(positions, d)`` to a number."""
    return (x.double() - x.double().mean(dim=-1, keepdim=True)).square().sum()
