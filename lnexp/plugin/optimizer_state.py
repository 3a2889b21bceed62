"""Turn the state of an optimizer over one vector into that of one over its parts, as checkpoints have it, and back."""

import copy
from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from .one_vector import split


def by_parameter(state: dict[str, Any], shapes: Sequence[torch.Size]) -> dict[str, Any]:
    """Return a copy of ``state_dict()`` of an optimizer over a vector as one over its parts would have it.

    Args:
        state: of an optimizer with one group.
        shapes: of the parameters that fill the vector.
    """
    parts = {name: _parts(value, shapes) for name, value in state["state"].get(0, {}).items()}
    each = {index: {name: part[index] for name, part in parts.items()} for index in range(len(shapes)) if parts}
    return {"state": each, "param_groups": [{**state["param_groups"][0], "params": list(range(len(shapes)))}]}


def of_vector(state: dict[str, Any], shapes: Sequence[torch.Size]) -> dict[str, Any]:
    """Return what :func:`by_parameter` was made of.

    A parameter without a state had no gradient yet: its moments are 0, and it counts as many steps as the others.
    """
    each = state["state"]
    vectors = {}
    for name, value in next(iter(each.values()), {}).items():
        known = [each[index][name] if index in each else None for index in range(len(shapes))]
        vectors[name] = _joined(known, shapes, value) if _is_by_element(value) else copy.deepcopy(value)
    return {"state": {0: vectors} if vectors else {}, "param_groups": [{**state["param_groups"][0], "params": [0]}]}


def refuse_other_shapes(state: dict[str, Any], shapes: Sequence[torch.Size]) -> None:
    """Refuse the state of an optimizer over other parameters, which a fused step would read past its end.

    Raises:
        ValueError: for one of other shapes, or of more or fewer parameters.
    """
    count = sum(len(group["params"]) for group in state["param_groups"])
    if count != len(shapes):
        raise ValueError(f"its optimizer has {count} parameters, not {len(shapes)}")
    for index, values in state["state"].items():
        for name, value in values.items():
            if _is_by_element(value) and value.shape != shapes[index]:
                raise ValueError(f"{name} is {tuple(value.shape)} for a parameter {tuple(shapes[index])}")


def _is_by_element(value: Any) -> bool:
    """Return whether a value of a state has a number for each of the parameter, as ``step`` has not."""
    return isinstance(value, Tensor) and value.dim() > 0


def _parts(value: Any, shapes: Sequence[torch.Size]) -> list[Any]:
    """Return what belongs to each parameter; of what counts in place for all (``step``), each gets its own."""
    if not _is_by_element(value):
        return [copy.deepcopy(value) for _ in shapes]
    return [part.clone() for part in split(value, shapes)]


def _joined(values: Sequence[Tensor | None], shapes: Sequence[torch.Size], like: Tensor) -> Tensor:
    pairs = zip(values, shapes, strict=True)
    return torch.cat([like.new_zeros(shape.numel()) if one is None else one.flatten() for one, shape in pairs])
