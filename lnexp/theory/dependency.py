"""Measure how much of a residual block's output comes from its sublayer, and how much from each earlier one."""

from dataclasses import replace

import torch
from torch import Tensor

from lnexp.plugin.placement import Block, Placement
from lnexp.theory.models import ProbedModel, kept_positions
from lnexp.theory.replay import joined, recorded, replayed

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
    (ResiDual) is measured on both together; of B2T's FFN, its input and the layer's both count as the stream.

    Args:
        probed: a model with an encoder, in evaluation mode.

    Raises:
        UserError: for a placement that does not join each block of a layer by its ``connect``.
    """
    seen: list[Tensor] = []
    for batch in probed.batches:
        kept = kept_positions(probed.model, batch["net_input"])["encoder"]
        variances: list[Tensor] = []

        def twice(
            placement: Placement, x: Tensor, block: Block, kept: Tensor = kept, found: list[Tensor] = variances
        ) -> Tensor:
            out, changed = _with_and_without_noise(placement, x, block)
            found.append(torch.stack([_variance((changed - out)[kept]), _variance(out[kept])]))
            return out

        joined(probed.model, batch["net_input"], twice)
        seen.append(torch.stack(variances))
    return [changed / (NOISE**2 * there) for changed, there in torch.stack(seen).sum(dim=0).tolist()]


@torch.no_grad()
def shares(probed: ProbedModel) -> list[list[float]]:
    """Return the share of each encoder sublayer j ≤ i in the variance of the output of each block i, row i from j = 1.

    Liu et al. 2020, section 4, call it β̂²_{i,j}, the dependency on an earlier residual branch; row i ends with the
    share of :func:`own_shares`. Each sublayer's output gets noise in turn, as there, while all others give what they
    gave without it: a share is of what the residual stream passes on, not of what later branches make of it. What a row
    lacks to 1 is the embedding's share, but for correlations between branches.

    Args:
        probed: a model with an encoder, in evaluation mode.

    Raises:
        UserError: as :func:`own_shares`.
    """
    there, changed = [], []
    for batch in probed.batches:
        branches, outputs = recorded(probed.model, batch["net_input"])
        there.append(_variance(outputs))
        of_each = []
        for number, branch in enumerate(branches):
            noisy = [*branches[:number], _with_noise(branch), *branches[number + 1 :]]
            of_each.append(_variance(replayed(probed.model, batch["net_input"], noisy) - outputs))
        changed.append(torch.stack(of_each))
    by_block = (torch.stack(changed).sum(dim=0) / (NOISE**2 * torch.stack(there).sum(dim=0))).T
    return [of_block[: number + 1].tolist() for number, of_block in enumerate(by_block)]


def _with_and_without_noise(placement: Placement, x: Tensor, block: Block) -> tuple[Tensor, Tensor]:
    """Return what a placement makes of a block, and what it makes of it with noise in what the sublayer gives."""
    given: list[Tensor] = []

    def kept_for_later(into: Tensor) -> Tensor:
        given.append(block.sublayer(into))
        return given[0]

    connect = type(placement).connect
    out = connect(placement, x, replace(block, sublayer=kept_for_later))
    (branch,) = given
    return out, connect(placement, x, replace(block, sublayer=lambda _: _with_noise(branch)))


def _with_noise(branch: Tensor) -> Tensor:
    """Return what a sublayer gives with Gaussian noise of :data:`NOISE` times its deviation over channels."""
    return branch + NOISE * branch.std(dim=-1, keepdim=True, correction=0) * torch.randn_like(branch)


def _variance(x: Tensor) -> Tensor:
    """Return the variance over channels, summed over channels and positions: ``(…, positions, d)`` to ``(…)``."""
    return (x.double() - x.double().mean(dim=-1, keepdim=True)).square().sum(dim=(-2, -1))
