"""Adam (Kingma & Ba 2015)."""

from dataclasses import dataclass, field
from typing import List  # noqa: UP035

import torch
from fairseq.dataclass import FairseqDataclass
from fairseq.optim import register_optimizer
from omegaconf import II

from ..torch_optimizer import TorchOptimizer


@dataclass
class AdamConfig(FairseqDataclass):
    """Options of :class:`LnexpAdam`; the betas are the paper's (section 3.2)."""

    betas: List[float] = field(  # noqa: UP006  (fairseq's command line reads the annotation, and knows this form alone)
        default_factory=lambda: [0.9, 0.98], metadata={"help": "decay of the two moments"}
    )
    eps: float = field(default=1e-8, metadata={"help": "added to the denominator"})
    weight_decay: float = field(default=0.0, metadata={"help": "decoupled weight decay, a share of lr an update"})
    lr: list[float] = II("optimization.lr")


@register_optimizer("lnexp_adam", dataclass=AdamConfig)
class LnexpAdam(TorchOptimizer):
    """``torch.optim.AdamW``, fused. Weight decay is decoupled (``w -= lr·λ·w``), as in fairseq's own Adam."""

    torch_class = torch.optim.AdamW
    elementwise = True

    def torch_arguments(self):
        """Return the arguments besides the learning rate, read from ``self.cfg``."""
        cfg = self.cfg
        return {"betas": tuple(cfg.betas), "eps": cfg.eps, "weight_decay": cfg.weight_decay, "fused": True}
