"""The base class of our optimizers: a ``torch.optim`` class behind fairseq's interface."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from typing import Any, ClassVar

import torch
from fairseq.optim import FairseqOptimizer
from torch import Tensor, nn

from .one_vector import OneVector
from .optimizer_state import by_parameter, of_vector, refuse_other_shapes


class TorchOptimizer(FairseqOptimizer, ABC):
    """A ``torch.optim`` optimizer as fairseq wants one.

    A subclass names the class and its keyword arguments, and states whether it works element by element.

    Raises:
        TypeError: when a subclass is defined that does not state it.
    """

    torch_class: ClassVar[type[torch.optim.Optimizer]]
    #: Whether a step treats each number of a parameter by itself. Then all parameters of a model can be one vector,
    #: which is faster on a CPU, in arrays and in fp16. If not (LAMB, Muon, Shampoo), it always gets matrix by matrix.
    #: In a vector a parameter without a gradient has one of zeros, and its weights decay.
    elementwise: ClassVar[bool]

    def __init_subclass__(cls, **options: Any):
        super().__init_subclass__(**options)
        if not hasattr(cls, "elementwise"):
            raise TypeError(f"{cls.__name__} does not say whether it works element by element: set elementwise")

    def __init__(self, cfg, params):
        super().__init__(cfg)
        self._parameters = list(params)
        self._vector = OneVector(self._parameters) if self.elementwise and _is_faster(self._parameters) else None
        stepped = [self._vector.whole] if self._vector else self._parameters
        self._optimizer = self.torch_class(stepped, **self.optimizer_config)
        if self._vector:  # an optimizer that wraps this one, as fairseq's of mixed precision, asks torch's to clear
            self._optimizer.zero_grad = self.zero_grad  # type: ignore[method-assign]

    @property
    def params(self) -> Iterator[nn.Parameter]:
        """The parameters of the model."""
        return iter(self._parameters)

    @property
    def optimizer_config(self) -> dict[str, Any]:
        """The keyword arguments of ``torch_class``; fairseq also uses them to override those of a checkpoint."""
        return {"lr": self.cfg.lr[0], **self.torch_arguments()}

    @abstractmethod
    def torch_arguments(self) -> dict[str, Any]:
        """Return the arguments besides the learning rate, read from ``self.cfg``."""

    def state_dict(self) -> dict[str, Any]:
        """Return the state by parameter."""
        state = super().state_dict()
        return by_parameter(state, self._shapes) if self._vector else state

    def load_state_dict(self, state_dict: dict[str, Any], optimizer_overrides: dict[str, Any] | None = None) -> None:
        """Load a state by parameter as fairseq does.

        Raises:
            ValueError: for one of other parameters.
        """
        if self.elementwise:
            refuse_other_shapes(state_dict, self._shapes)
        state = of_vector(state_dict, self._shapes) if self._vector else state_dict
        super().load_state_dict(state, optimizer_overrides)

    @property
    def _shapes(self) -> list[torch.Size]:
        return [parameter.shape for parameter in self._parameters]

    def zero_grad(self, set_to_none: bool = True) -> None:
        """Set the gradients to 0, or drop them, whatever ``set_to_none`` says; fairseq drops them twice."""
        if self._vector:
            self._vector.gather().zero_()
        else:
            for parameter in self._parameters:
                parameter.grad = None

    def multiply_grads(self, c: float | Tensor) -> None:
        """Multiply all gradients, in place."""
        if self._vector:
            self._vector.gather().mul_(c)
        else:
            super().multiply_grads(c)

    def clip_grad_norm(self, max_norm: float, aggregate_norm_fn: Callable[[Tensor], Tensor] | None = None) -> Tensor:
        """Clip the gradients as fairseq does, and return their norm before that, computed in single precision.

        fairseq computes the norm of each parameter's gradient in a call of its own.
        """
        parameters = [parameter for parameter in self._parameters if parameter.grad is not None]
        norm = nn.utils.get_total_norm([parameter.grad.float() for parameter in parameters])
        if aggregate_norm_fn is not None:
            norm = aggregate_norm_fn(norm)
        if max_norm > 0:
            nn.utils.clip_grads_with_norm_(parameters, max_norm, norm)
        return norm

    def step(self, closure: Callable[[], Any] | None = None, scale: float = 1.0, groups: Any = None) -> None:
        """Make a step."""
        if self._vector:
            self._vector.gather()
        super().step(closure, scale, groups)

    @property
    def supports_flat_params(self) -> bool:
        """Whether fairseq may keep all parameters in one vector; if not, fp16 needs ``fp16_no_flatten_grads``."""
        return self.elementwise


def _is_faster(parameters: Sequence[nn.Parameter]) -> bool:
    """Return whether to step parameters as one vector.

    On a CPU an optimizer takes as long for a parameter as for some thousand numbers. A GPU steps many parameters in few
    kernels.
    """
    on_cpu = all(one.device.type == "cpu" and one.dtype == torch.float32 for one in parameters)
    return on_cpu and len(parameters) > 1 and all(one.is_contiguous() for one in parameters)
