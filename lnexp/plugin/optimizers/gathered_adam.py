"""Adam that gathers its second moment before its first step, as Adam-2k (Liu et al. 2019, RAdam)."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

import torch
from fairseq.optim import register_optimizer
from torch import Tensor

from ..torch_optimizer import TorchOptimizer
from .adam import AdamConfig


class GatheredAdamW(torch.optim.Optimizer):
    """AdamW that begins to step when its second moment has seen some gradients; until then its first one stays 0.

    Args:
        params: what is trained.
        lr: the rate.
        betas: decay of the two moments.
        eps: added to the denominator.
        weight_decay: decoupled, a share of the rate a step.
        gather: T, how many gradients are seen before.
        ramp: what the correction of the first moment's bias counts at update t: t, or t − T. With t it is almost 1, so
            that the first step is some 1 − β1 of Adam's, and steps grow to their size within some 1/(1 − β1).

    Raises:
        ValueError: for a T below 0.
    """

    def __init__(
        self,
        params: Iterable[Tensor],
        lr: float,
        betas: tuple[float, float],
        eps: float,
        weight_decay: float,
        gather: int,
        ramp: bool,
    ):
        if gather < 0:
            raise ValueError(f"gather={gather}: must be at least 0")
        options = {"betas": betas, "eps": eps, "weight_decay": weight_decay, "gather": gather, "ramp": ramp}
        super().__init__(params, {"lr": lr, **options})

    @torch.no_grad()
    def step(self, closure: Any = None) -> Any:
        """Make a step of each parameter, or take in the square of its gradient alone."""
        with torch.enable_grad():
            loss = closure() if closure else None
        for group in self.param_groups:
            for parameter in group["params"]:
                if parameter.grad is not None:
                    _update(parameter, parameter.grad, self.state[parameter], group)
        return loss


def _update(parameter: Tensor, gradient: Tensor, state: dict[str, Any], group: dict[str, Any]) -> None:
    beta1, beta2 = group["betas"]
    if not state:
        state |= {"step": 0, "exp_avg": torch.zeros_like(parameter), "exp_avg_sq": torch.zeros_like(parameter)}
    state["step"] += 1
    state["exp_avg_sq"].lerp_(gradient.square(), 1 - beta2)
    own = state["step"] - group["gather"]
    if own <= 0:
        return
    state["exp_avg"].lerp_(gradient, 1 - beta1)
    counted = state["step"] if group["ramp"] else own
    scale = (state["exp_avg_sq"] / (1 - beta2 ** state["step"])).sqrt_().add_(group["eps"])
    parameter.mul_(1 - group["lr"] * group["weight_decay"])
    parameter.addcdiv_(state["exp_avg"], scale, value=-group["lr"] / (1 - beta1**counted))


@dataclass
class GatheredAdamConfig(AdamConfig):
    """The options of Adam, and of :class:`GatheredAdamW`."""

    gather: int = field(default=60, metadata={"help": "gradients that the second moment sees before the first step"})
    ramp: bool = field(default=False, metadata={"help": "begin with small steps, as the code of Adam-2k"})


@register_optimizer("lnexp_gathered_adam", dataclass=GatheredAdamConfig)
class LnexpGatheredAdam(TorchOptimizer):
    """:class:`GatheredAdamW`, which with T = 0 is AdamW.

    Liu et al. 2019, "On the Variance of the Adaptive Learning Rate and Beyond", section 3.1, take T = 2,000 to test
    whether the variance of the second moment in the first updates is why Adam needs warm-up. Their paper takes Adam
    as it is after that; their code has the ramp.
    """

    torch_class = GatheredAdamW
    elementwise = True

    def torch_arguments(self):
        """Return the arguments besides the learning rate, read from ``self.cfg``."""
        cfg = self.cfg
        own = {"betas": tuple(cfg.betas), "eps": cfg.eps, "weight_decay": cfg.weight_decay}
        return own | {"gather": cfg.gather, "ramp": cfg.ramp}
