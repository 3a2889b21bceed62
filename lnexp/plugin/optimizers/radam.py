"""Rectified Adam (Liu et al. 2019, "On the Variance of the Adaptive Learning Rate and Beyond")."""

from dataclasses import dataclass

import torch
from fairseq.optim import register_optimizer

from ..torch_optimizer import TorchOptimizer
from .adam import AdamConfig


@dataclass
class RAdamConfig(AdamConfig):
    """The options of Adam."""


@register_optimizer("lnexp_radam", dataclass=RAdamConfig)
class LnexpRAdam(TorchOptimizer):
    """``torch.optim.RAdam``, foreach (it has no fused kernel). Weight decay is decoupled (``w -= lr·λ·w``)."""

    torch_class = torch.optim.RAdam
    elementwise = True

    def torch_arguments(self):
        """Return the arguments besides the learning rate, read from ``self.cfg``."""
        cfg = self.cfg
        return {
            "betas": tuple(cfg.betas),
            "eps": cfg.eps,
            "weight_decay": cfg.weight_decay,
            "decoupled_weight_decay": True,
            "foreach": True,
        }
