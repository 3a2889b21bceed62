"""Interventions: what an experiment changes of every update, to test an explanation; each has a file of its own."""

import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any

import torch
from omegaconf import DictConfig
from torch import Tensor

from lnexp.errors import UserError, near_names
from lnexp.plugin.registered_names import refuse_second
from lnexp.schema import required_fields
from lnexp.training.models.base import Models

#: The name of no intervention.
NONE = "none"
OF_LAYER = re.compile(r"(?:^|\.)(?P<side>encoder|decoder)\.layers\.(?P<index>\d+)\.")


@dataclass(frozen=True)
class Weight:
    """A parameter of the model, or those that the members of an array have in its place.

    Attributes:
        parameter: of a member's shape; in an array with an axis of members in front, ``(S, …)``.
        side: the stack that has it, ``encoder`` or ``decoder``; None for one outside the layers, as an embedding.
        layer: the number of its layer in the stack, from 1; 0 outside the layers.
        layers: how many layers the stack has.
        stacked: whether there is an axis of members.
    """

    parameter: Tensor
    side: str | None
    layer: int
    layers: int
    stacked: bool

    def rms(self, values: Tensor) -> Tensor:
        """Return the root mean square of values of the parameter's shape, by member: ``(S, 1, …)``, or ``(1, …)``."""
        axes = tuple(range(int(self.stacked), values.dim()))
        return values.square().mean(dim=axes, keepdim=True).sqrt()


def weights_of(model: torch.nn.Module, stacked: bool) -> list[Weight]:
    """Return the weights of a model that are trained, in its order; one that is used twice is there once."""
    named = [(OF_LAYER.search(name), one) for name, one in model.named_parameters() if one.requires_grad]
    places = [(found["side"], int(found["index"]) + 1) if found else (None, 0) for found, _ in named]
    deepest: dict[str | None, int] = {}
    for side, layer in places:
        deepest[side] = max(layer, deepest.get(side, 0))
    return [
        Weight(one, side, layer, deepest[side], stacked) for (_, one), (side, layer) in zip(named, places, strict=True)
    ]


class Intervention(ABC):
    """Changes every update between its gradients and the weights.

    It has no state: what it does follows from the update's number, rate and gradients and from the weights alone, so a
    resumed run is an undisturbed one.

    Args:
        options: an instance of the dataclass that it was registered with, or None.
        weights: of the model that is trained.
        rates: returns the learning rate of each member, ``(S,)``.
    """

    def __init__(self, options: Any, weights: Sequence[Weight], rates: Callable[[], Tensor]):
        self.options, self.weights, self.rates = options, weights, rates

    @abstractmethod
    def make(self, update: int, step: Callable[[], None]) -> None:
        """Make an update.

        Args:
            update: its number, from 1.
            step: has the optimizer change the weights by their gradients.
        """


class ChangesGradients(Intervention):
    """An intervention in what the optimizer gets."""

    def make(self, update: int, step: Callable[[], None]) -> None:
        for weight in self.weights:
            if weight.parameter.grad is not None:
                self.change(weight, weight.parameter.grad)
        step()

    @abstractmethod
    def change(self, weight: Weight, gradient: Tensor) -> None:
        """Change the gradient of a weight in place."""


class ScalesChanges(Intervention):
    """An intervention in what the optimizer makes of the gradients."""

    @torch.no_grad()
    def make(self, update: int, step: Callable[[], None]) -> None:
        scaled = [weight for weight in self.weights if self.scales(weight, update)]
        before = [weight.parameter.detach().clone() for weight in scaled]
        step()
        for weight, earlier in zip(scaled, before, strict=True):
            change = weight.parameter - earlier
            weight.parameter.copy_(torch.lerp(earlier, weight.parameter, self.share(weight, update, change)))

    def scales(self, weight: Weight, update: int) -> bool:
        """Return whether it scales the changes of a weight in an update."""
        return True

    @abstractmethod
    def share(self, weight: Weight, update: int, change: Tensor) -> Tensor:
        """Return the share of a change of a weight that is made: a number, or one a member, ``(S, 1, …)``."""


@dataclass(frozen=True)
class Registered:
    """An intervention by name: its class and the dataclass of its options, or None."""

    factory: type[Intervention]
    options: type | None


INTERVENTIONS: dict[str, Registered] = {}

#: The types of options that are checked before an intervention sees them: what values may be, and that in words.
CHECKED: dict[Any, tuple[tuple[type, ...], str]] = {
    bool: ((bool,), "true or false"),
    int: ((int,), "a whole number"),
    float: ((int, float), "a number"),
    str: ((str,), "text"),
}


def register_intervention(name: str, options: type | None = None) -> Callable[[type[Intervention]], type[Intervention]]:
    """Decorator: register a class as ``intervention=<name>``; a file in ``configs/intervention`` has its options."""

    def register(factory: type[Intervention]) -> type[Intervention]:
        refuse_second(INTERVENTIONS, name)
        INTERVENTIONS[name] = Registered(factory, options)
        return factory

    return register


def intervene(cfg: DictConfig, task: Any, models: Models) -> None:
    """Have a fairseq task make its updates with the intervention of a config, if it has one.

    Args:
        cfg: the config of a run; those of an array have one intervention.
        task: of the training, changed.
        models: what is trained.

    Raises:
        UserError: for an intervention that there is none of, options that it refuses, and half precision in a single
            run, whose optimizer has weights of its own.
    """
    chosen: Mapping[str, Any] = cfg.get("intervention") or {"_name": NONE}
    if chosen["_name"] == NONE:
        return
    if not models.stacked and cfg.precision != "fp32":
        raise UserError(f"intervention={chosen['_name']}: a single run has it in fp32 alone; take precision=fp32")
    intervention = _build(chosen, weights_of(models.model, models.stacked), models.rates)
    make_step = task.optimizer_step

    def optimizer_step(optimizer: Any, model: Any, update_num: int) -> None:
        intervention.make(update_num + 1, lambda: make_step(optimizer, model=model, update_num=update_num))

    task.optimizer_step = optimizer_step


def _build(chosen: Mapping[str, Any], weights: Sequence[Weight], rates: Callable[[], Tensor]) -> Intervention:
    name = str(chosen["_name"])
    if name not in INTERVENTIONS:
        raise UserError(f"intervention={name}: there is none; {near_names(name, [NONE, *INTERVENTIONS])}")
    registered = INTERVENTIONS[name]
    given = {str(key): value for key, value in chosen.items() if key != "_name"}
    known = [one.name for one in fields(registered.options)] if registered.options else []
    for key in given.keys() - set(known):
        raise UserError(f"intervention.{key}: {name} has no such option; {near_names(key, known)}")
    return registered.factory(_options(registered.options, given) if registered.options else None, weights, rates)


def _options(kind: type, given: Mapping[str, Any]) -> Any:
    """Return the options of an intervention. Raises UserError for one that is missing or that they refuse."""
    for missing in sorted(required_fields(kind) - given.keys()):
        raise UserError(f"intervention.{missing}: not set")
    for one in fields(kind):
        if one.name in given and one.type in CHECKED:
            value, (allowed, words) = given[one.name], CHECKED[one.type]
            if not isinstance(value, allowed) or (isinstance(value, bool) and one.type is not bool):
                raise UserError(f"intervention.{one.name}={value}: must be {words}")
    try:
        return kind(**given)
    except (TypeError, ValueError) as error:
        raise UserError(f"intervention.{error}") from None
