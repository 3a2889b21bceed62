"""The base class of our optimizers: a ``torch.optim`` class behind fairseq's interface."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any, ClassVar

import torch
from fairseq.optim import FairseqOptimizer
from torch import Tensor, nn


class TorchOptimizer(FairseqOptimizer, ABC):
    """A ``torch.optim`` optimizer as fairseq wants one.

    A subclass names the class and its keyword arguments, and states whether it works element by element.

    Raises:
        TypeError: when a subclass is defined that does not state it.
    """

    torch_class: ClassVar[type[torch.optim.Optimizer]]
    #: Whether a step treats each number of a parameter by itself. Then all parameters of a model can be one vector,
    #: which is faster in arrays and in fp16. If not (LAMB, Muon, Shampoo), it always gets matrix by matrix.
    elementwise: ClassVar[bool]

    def __init_subclass__(cls, **options: Any):
        super().__init_subclass__(**options)
        if not hasattr(cls, "elementwise"):
            raise TypeError(f"{cls.__name__} does not say whether it works element by element: set elementwise")

    def __init__(self, cfg, params):
        super().__init__(cfg)
        self._optimizer = self.torch_class(list(params), **self.optimizer_config)

    @property
    def optimizer_config(self) -> dict[str, Any]:
        """The keyword arguments of ``torch_class``; fairseq also uses them to override those of a checkpoint."""
        return {"lr": self.cfg.lr[0], **self.torch_arguments()}

    @abstractmethod
    def torch_arguments(self) -> dict[str, Any]:
        """Return the arguments besides the learning rate, read from ``self.cfg``."""

    def load_state_dict(self, state_dict: dict[str, Any], optimizer_overrides: dict[str, Any] | None = None) -> None:
        """Load a state as fairseq does.

        Raises:
            ValueError: for one of other shapes, which a fused step would read past its end.
        """
        super().load_state_dict(state_dict, optimizer_overrides)
        for parameter, state in self.optimizer.state.items() if self.elementwise else ():
            for name, value in state.items():
                if isinstance(value, Tensor) and value.dim() and value.shape != parameter.shape:
                    raise ValueError(f"{name} is {tuple(value.shape)} for a parameter {tuple(parameter.shape)}")

    def clip_grad_norm(self, max_norm: float, aggregate_norm_fn: Callable[[Tensor], Tensor] | None = None) -> Tensor:
        """Clip the gradients as fairseq does, and return their norm before that, computed in single precision.

        fairseq computes the norm of each parameter's gradient in a call of its own.
        """
        parameters = [parameter for parameter in self.params if parameter.grad is not None]
        norm = nn.utils.get_total_norm([parameter.grad.float() for parameter in parameters])
        if aggregate_norm_fn is not None:
            norm = aggregate_norm_fn(norm)
        if max_norm > 0:
            nn.utils.clip_grads_with_norm_(parameters, max_norm, norm)
        return norm

    @property
    def supports_flat_params(self) -> bool:
        """Whether fairseq may keep all parameters in one vector; if not, fp16 needs ``fp16_no_flatten_grads``."""
        return self.elementwise
