"""Look at the forward passes of an update, module by module, with hooks that are there for that update alone."""

from abc import abstractmethod
from collections.abc import Callable, Iterator
from typing import Any

from torch import Tensor
from torch.utils.hooks import RemovableHandle

from lnexp.training.diagnostic import Diagnostic, Watched


class ForwardDiagnostic(Diagnostic):
    """A diagnostic of what modules are given, or give out.

    Attributes:
        batch: the one that the loss is computed of.
        kept: which of its positions are no padding, by side, each ``(time, B)``.
    """

    def __init__(self, watched: Watched):
        super().__init__(watched)
        self.batch: dict[str, Any] = {}
        self.kept: dict[Any, Tensor] = {}
        self._hooks: list[RemovableHandle] = []

    @abstractmethod
    def hooks(self) -> Iterator[RemovableHandle]:
        """Forget the last update, and attach hooks to modules; those of :func:`in_training`."""

    @abstractmethod
    def found(self) -> dict[str, Tensor]:
        """Return what was found, as :meth:`end` does; empty where no pass was seen."""

    def begin(self) -> None:
        self._detach()
        self._hooks = [self.watched.criterion.register_forward_pre_hook(self._see_batch), *self.hooks()]

    def end(self) -> dict[str, Tensor]:
        self._detach()
        return self.found()

    def _detach(self) -> None:
        for hook in self._hooks:
            hook.remove()
        self._hooks = []

    def _see_batch(self, criterion: Any, arguments: Any) -> None:
        _, self.batch = arguments
        self.kept = self.watched.model.kept(**self.batch["net_input"])


def in_training(look: Callable[..., None]) -> Callable[..., None]:
    """Return a hook that does not see the pass in which placements are shown the first batch, see
    :mod:`lnexp.plugin.first_batch`.
    """

    def hook(module: Any, *given: Any) -> None:
        if module.training:
            look(module, *given)

    return hook
