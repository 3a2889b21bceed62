"""The optimizers of an array's members behind one interface: the optimizer ``lnexp_array``."""

import copy
import itertools
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

import torch
from fairseq import optim
from fairseq.dataclass import FairseqDataclass
from fairseq.logging import metrics
from fairseq.optim import FairseqOptimizer, register_optimizer
from omegaconf import OmegaConf
from torch import Tensor

from ..divergence import EveryMemberDivergedError
from ..optimizer_state import by_parameter, of_vector, refuse_other_shapes


@dataclass
class ArrayOptimizerConfig(FairseqDataclass):
    """An optimizer for each member."""

    members: list[dict[str, Any]] = field(default_factory=list, metadata={"help": "options of each one's optimizer"})


@register_optimizer("lnexp_array", dataclass=ArrayOptimizerConfig)
class ArrayOptimizer(FairseqOptimizer):
    """Each member has its own optimizer, any that fairseq knows, with its own learning rate, norm and clipping.

    All parameters are moved into one ``(S, size)`` tensor, and their gradients into another: a member is a row of each.
    An optimizer that works element by element (``supports_flat_params``) steps over that vector; any other gets the
    member's matrices one by one, as in a run of its own. A member whose gradients are no longer finite is frozen.

    Attributes:
        members: the members' optimizers.
        frozen: the number of updates that a member had made when its gradients stopped being finite, by member.
        updates: the updates made so far.
    """

    def __init__(self, cfg: ArrayOptimizerConfig, params: Iterable[Tensor]):
        super().__init__(cfg)
        self.stacked: list[Any] = list(params)
        self.values, self.gradients = _as_rows(self.stacked)
        self.members = [self._build(options, row) for row, options in enumerate(cfg.members)]
        self.frozen: dict[int, int] = {}
        self.updates = 0

    def _build(self, options: dict[str, Any], row: int) -> FairseqOptimizer:
        """Build a member's optimizer over its matrices, or over its vector where that makes no difference."""
        matrices = [_view(parameter.data[row], parameter.grad[row]) for parameter in self.stacked]
        optimizer = optim.build_optimizer(OmegaConf.create(dict(options)), matrices)
        if not optimizer.supports_flat_params:
            return optimizer
        return optim.build_optimizer(OmegaConf.create(dict(options)), [_view(self.values[row], self.gradients[row])])

    @property
    def alive(self) -> list[int]:
        """The members that are trained."""
        return [member for member in range(len(self.members)) if member not in self.frozen]

    @property
    def params(self) -> list[Tensor]:
        """The parameters of all members, each ``(S, …)``."""
        return self.stacked

    @property
    def optimizer_config(self) -> dict[str, Any]:
        """Nothing: checkpoints are the members' own."""
        return {}

    def get_lr(self) -> float:
        """Return the highest rate of any member: only for fairseq's log."""
        return max(member.get_lr() for member in self.members)

    def zero_grad(self) -> None:
        """Set all gradients to 0, in place."""
        self.gradients.zero_()

    def multiply_grads(self, c: float | Tensor) -> None:
        """Multiply all gradients, in place."""
        self.gradients.mul_(c)

    def clip_grad_norm(self, max_norm: float, aggregate_norm_fn=None) -> Tensor:
        """Clip each member by its own norm and freeze those without a finite one; return the mean norm of the others.

        Raises:
            EveryMemberDivergedError: if no member is left.
        """
        norms = torch.linalg.vector_norm(self.gradients, dim=1)
        if max_norm > 0:
            self.gradients.mul_((max_norm / (norms + 1e-6)).clamp(max=1.0).unsqueeze(1))
        norms = norms.cpu()
        for member in self.alive:
            if not norms[member].isfinite():
                self.frozen[member] = self.updates
        if not self.alive:
            raise EveryMemberDivergedError
        metrics.log_scalar("member_gnorm", norms, priority=2000)
        return norms[self.alive].mean()

    def step(self, closure=None, scale: float = 1.0, groups=None) -> None:
        """Make one step of every member that is not frozen."""
        for member in self.alive:
            self.members[member].step()

    def member_state(self, member: int) -> dict[str, Any]:
        """Return a copy of the state of a member's optimizer as a model of its own would have it, by parameter."""
        state = self.members[member].state_dict()
        return by_parameter(state, self._shapes) if self._is_flat(member) else copy.deepcopy(state)

    def load_member_state(self, member: int, state: dict[str, Any]) -> None:
        """Set the state of a member's optimizer to what :meth:`member_state` has returned."""
        if self._is_flat(member):
            refuse_other_shapes(state, self._shapes)
            own = of_vector(state, self._shapes)
        else:
            own = copy.deepcopy(state)
        self.members[member].load_state_dict(own)

    @property
    def _shapes(self) -> list[torch.Size]:
        """The shapes of the parameters of a member."""
        return [parameter.shape[1:] for parameter in self.stacked]

    def _is_flat(self, member: int) -> bool:
        """Return whether a member's optimizer steps over one vector."""
        return self.members[member].supports_flat_params


def _as_rows(stacked: list[Tensor]) -> tuple[Tensor, Tensor]:
    """Move parameters, each ``(S, …)``, and their gradients into two tensors ``(S, size)``, and return those."""
    flat = [parameter.data.flatten(1) for parameter in stacked]
    values = torch.cat(flat, dim=1)
    gradients = torch.zeros_like(values)
    starts = itertools.accumulate((part.size(1) for part in flat), initial=0)
    for parameter, (start, end) in zip(stacked, itertools.pairwise(starts), strict=True):
        parameter.data = values[:, start:end].view(parameter.shape)
        parameter.grad = gradients[:, start:end].view(parameter.shape)
    return values, gradients


def _view(value: Tensor, gradient: Tensor) -> torch.nn.Parameter:
    """Return a parameter that shares its memory with a part of all parameters, and its gradient with theirs."""
    parameter = torch.nn.Parameter(value)
    parameter.grad = gradient
    return parameter
