"""Plain stochastic gradient descent."""

from dataclasses import dataclass, field

import torch
from fairseq.dataclass import FairseqDataclass
from fairseq.optim import register_optimizer
from omegaconf import II

from ..torch_optimizer import TorchOptimizer


@dataclass
class SGDConfig(FairseqDataclass):
    """Options of :class:`LnexpSGD`; without momentum, as in the paper (section 3.2)."""

    momentum: float = field(default=0.0, metadata={"help": "momentum"})
    weight_decay: float = field(default=0.0, metadata={"help": "L2 penalty, added to the gradient"})
    lr: list[float] = II("optimization.lr")


@register_optimizer("lnexp_sgd", dataclass=SGDConfig)
class LnexpSGD(TorchOptimizer):
    """``torch.optim.SGD``, fused. Weight decay is an L2 penalty (``g += λ·w``), not decoupled."""

    torch_class = torch.optim.SGD
    elementwise = True

    def torch_arguments(self):
        """Return the arguments besides the learning rate, read from ``self.cfg``."""
        return {"momentum": self.cfg.momentum, "weight_decay": self.cfg.weight_decay, "fused": True}
