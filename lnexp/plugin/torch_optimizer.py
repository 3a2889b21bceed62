"""What the optimizers share: a ``torch.optim`` class behind fairseq's interface."""

from typing import Any, ClassVar

import torch
from fairseq.optim import FairseqOptimizer


class TorchOptimizer(FairseqOptimizer):
    """A ``torch.optim`` optimizer as fairseq wants one; subclasses name the class and its keyword arguments."""

    torch_class: ClassVar[type[torch.optim.Optimizer]]

    def __init__(self, cfg, params):
        super().__init__(cfg)
        self._optimizer = self.torch_class(list(params), **self.optimizer_config)

    @property
    def optimizer_config(self) -> dict[str, Any]:
        """The keyword arguments of ``torch_class``; fairseq also uses them to override those of a checkpoint."""
        return {"lr": self.cfg.lr[0], **self.torch_arguments()}

    def torch_arguments(self) -> dict[str, Any]:
        """The arguments besides the learning rate, read from ``self.cfg``."""
        raise NotImplementedError(f"{type(self).__name__} does not say its arguments")

    @property
    def supports_flat_params(self) -> bool:
        """True: every one of them works element by element, so fairseq may keep fp32 weights in one vector."""
        return True
