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


@dataclass
class ArrayOptimizerConfig(FairseqDataclass):
    """An optimizer for each member."""

    members: list[dict[str, Any]] = field(default_factory=list, metadata={"help": "options of each one's optimizer"})


class EveryMemberDivergedError(Exception):
    """There is nobody left to train."""


@register_optimizer("lnexp_array", dataclass=ArrayOptimizerConfig)
class ArrayOptimizer(FairseqOptimizer):
    """Each member has an optimizer of its own, any that fairseq knows, with its own learning rate, norm and clipping.

    All parameters are moved into one ``(S, size)`` tensor, and their gradients into another: a member is a row of each,
    and its optimizer steps over one vector. A member whose gradients stop being finite is frozen as it was.

    Attributes:
        members: the members' optimizers.
        frozen: the updates that a member had made when its gradients stopped being finite, by its number.
        updates: the updates made so far.
    """

    def __init__(self, cfg: ArrayOptimizerConfig, params: Iterable[Tensor]):
        super().__init__(cfg)
        self.stacked = list(params)
        self.values, self.gradients = _as_rows(self.stacked)
        self.members = [self._build(options, row) for row, options in enumerate(cfg.members)]
        self.frozen: dict[int, int] = {}
        self.updates = 0

    def _build(self, options: dict[str, Any], row: int) -> FairseqOptimizer:
        vector = torch.nn.Parameter(self.values[row])
        vector.grad = self.gradients[row]
        return optim.build_optimizer(OmegaConf.create(dict(options)), [vector])

    @property
    def alive(self) -> list[int]:
        """The members that are trained."""
        return [member for member in range(len(self.members)) if member not in self.frozen]

    @property
    def params(self) -> list[Tensor]:
        return self.stacked

    @property
    def optimizer_config(self) -> dict[str, Any]:
        return {}

    def get_lr(self) -> float:
        """The highest rate of any member: only for fairseq's log."""
        return max(member.get_lr() for member in self.members)

    def zero_grad(self) -> None:
        self.gradients.zero_()

    def multiply_grads(self, c: float | Tensor) -> None:
        self.gradients.mul_(c)

    def clip_grad_norm(self, max_norm: float, aggregate_norm_fn=None) -> Tensor:
        """Clip each member by its own norm, and freeze those that have none; the mean of the others' norms.

        Raises:
            EveryMemberDivergedError: where no member is left.
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
        for member in self.alive:
            self.members[member].step()

    def member_state(self, member: int) -> dict[str, Any]:
        """The state of a member's optimizer as it would be for a model of its own, a state a parameter."""
        state = self.members[member].state_dict()
        vectors = state["state"].get(0, {})
        shapes = [parameter.shape[1:] for parameter in self.stacked]
        parts = {key: _split(value, shapes) for key, value in vectors.items()}
        groups = [{**state["param_groups"][0], "params": list(range(len(shapes)))}]
        if not parts:
            return {"state": {}, "param_groups": groups}
        per_parameter = {i: {key: part[i] for key, part in parts.items()} for i in range(len(shapes))}
        return {"state": per_parameter, "param_groups": groups}

    def load_member_state(self, member: int, state: dict[str, Any]) -> None:
        """The way back from :meth:`member_state`."""
        per_parameter = [state["state"][index] for index in sorted(state["state"])]
        vectors = {}
        if per_parameter:
            vectors = {0: {key: _join([part[key] for part in per_parameter]) for key in per_parameter[0]}}
        groups = [{**state["param_groups"][0], "params": [0]}]
        self.members[member].load_state_dict({"state": vectors, "param_groups": groups})


def _as_rows(stacked: list[Tensor]) -> tuple[Tensor, Tensor]:
    """Move parameters, each ``(S, …)``, and their gradients into two tensors ``(S, size)``."""
    flat = [parameter.data.flatten(1) for parameter in stacked]
    values = torch.cat(flat, dim=1)
    gradients = torch.zeros_like(values)
    starts = itertools.accumulate((part.size(1) for part in flat), initial=0)
    for parameter, (start, end) in zip(stacked, itertools.pairwise(starts), strict=True):
        parameter.data = values[:, start:end].view(parameter.shape)
        parameter.grad = gradients[:, start:end].view(parameter.shape)
    return values, gradients


def _split(value: Any, shapes: list[torch.Size]) -> list[Any]:
    """A vector as one tensor a shape; of what is no vector, a copy each (``step`` is counted up in place)."""
    if not isinstance(value, Tensor) or value.dim() == 0:
        return [copy.deepcopy(value) for _ in shapes]
    parts = value.split([shape.numel() for shape in shapes])
    return [part.view(shape).clone() for part, shape in zip(parts, shapes, strict=True)]


def _join(values: list[Any]) -> Any:
    if not isinstance(values[0], Tensor) or values[0].dim() == 0:
        return copy.deepcopy(values[0])
    return torch.cat([value.flatten() for value in values])
