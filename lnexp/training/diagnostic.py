"""Register the diagnostics of snapshots: what is measured around one update, each in a file of its own."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Self

from torch import Tensor

from lnexp.training.models.base import Models
from lnexp.training.ranks import Ranks


@dataclass(frozen=True)
class Watched:
    """What diagnostics look at.

    Attributes:
        model: the module that is trained, of one of our families.
        criterion: its loss, called with the model and a batch.
        members: how many runs it trains, S.
        stacked: whether its parameters have an axis of members in front; without it, there is one member.
        ranks: the processes that train it, each on batches of its own.
        rates: returns the learning rate of each member's next update, ``(S,)``.
        fixed_batch: returns a minibatch that is the same whenever it is asked for.
        products: of the Hessian and a direction that sharpness takes, the option ``diagnostics.sharpness``; 0 for none.
        state_changes: the option ``diagnostics.state_changes``.
    """

    model: Any
    criterion: Any
    members: int
    stacked: bool
    ranks: Ranks
    rates: Callable[[], Tensor]
    fixed_batch: Callable[[], dict[str, Any]]
    products: int = 0
    state_changes: bool = False

    @classmethod
    def of(cls, models: Models, criterion: Any, fixed_batch: Callable[[], dict[str, Any]], **options: Any) -> Self:
        """Return the models of a training, its loss, and what :class:`Watched` has besides."""
        shape = (len(models.members), models.stacked, models.ranks)
        return cls(models.model, criterion, *shape, models.rates, fixed_batch, **options)

    def layers(self) -> dict[str, Any]:
        """Return the layers of the model's stacks by name, as ``encoder.layers.0``."""
        stacks = {side: getattr(self.model, side) for side in self.model.sides}
        return {
            f"{side}.layers.{number}": layer for side, one in stacks.items() for number, layer in enumerate(one.layers)
        }


def states_of(output: Any) -> Tensor:
    """Return the hidden states of what a layer gives out, ``(time, S·B, channel)``: decoders' layers give more."""
    states: Tensor = output[0] if isinstance(output, tuple) else output
    return states


class Diagnostic(ABC):
    """Measures an update, without an effect on it: no gradient, no random number, no parameter changes.

    Every process of a run calls it at the same updates.
    """

    def __init__(self, watched: Watched):
        self.watched = watched

    @abstractmethod
    def begin(self) -> None:
        """Prepare to measure the next update; called again for an update that was not made (fp16)."""

    @abstractmethod
    def end(self) -> dict[str, Tensor]:
        """Return what was found, each ``(S,)``, when the update is made; what :meth:`begin` has attached is detached.

        A name is ``<measure>.<module or parameter>``, as ``attention_logit.encoder.layers.0.self_attn``.
        """


DIAGNOSTICS: dict[str, type[Diagnostic]] = {}


def register_diagnostic(diagnostic: type[Diagnostic]) -> type[Diagnostic]:
    """Register a class as the diagnostic of its name (a decorator)."""
    DIAGNOSTICS[diagnostic.__name__] = diagnostic
    return diagnostic
