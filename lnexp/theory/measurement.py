"""Register the measurements that recipes of the theory ask for by name, and run them."""

import inspect
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, get_origin

import torch

from lnexp.checks import check_flag, check_whole
from lnexp.errors import UserError, near_names
from lnexp.schema import checked

#: What was varied and what was measured, by column.
Row = dict[str, Any]


@dataclass(frozen=True)
class Context:
    """What every measurement is given beside its settings.

    Attributes:
        seed: of all random numbers.
        overrides: of ``scripts/train.py``'s config: the corpus and its folder.
    """

    seed: int
    overrides: Sequence[str] = ()


#: Takes the context, and its settings as keyword arguments; returns rows.
Measurement = Callable[..., list[Row]]
MEASUREMENTS: dict[str, Measurement] = {}


def register_measurement(measurement: Measurement) -> Measurement:
    """Register a function as the measurement of its name (a decorator)."""
    MEASUREMENTS[measurement.__name__] = measurement
    return measurement


def measure(name: str, context: Context, settings: dict[str, Any]) -> list[Row]:
    """Return the rows of the measurement ``name``; they depend on its settings and the context alone.

    Raises:
        UserError: for an unknown measurement, unknown or missing settings, sizes below 1, or a result that is not
            finite.
    """
    if name not in MEASUREMENTS:
        raise UserError(f"measurement={name}: no such measurement; {near_names(name, MEASUREMENTS)}")
    _check_settings(name, settings)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(context.seed)
        rows = MEASUREMENTS[name](context, **settings)
    for row in rows:
        for column, value in row.items():
            if isinstance(value, float) and not math.isfinite(value):
                raise UserError(f"measurement {name}, seed {context.seed}: {column} is {value} in {row}")
    return rows


def _check_settings(name: str, settings: dict[str, Any]) -> None:
    parameters = dict(list(inspect.signature(MEASUREMENTS[name]).parameters.items())[1:])
    for setting in settings:
        if setting not in parameters:
            raise UserError(f"measurement {name} has no setting {setting}; {near_names(setting, parameters)}")
    missing = [key for key, what in parameters.items() if what.default is what.empty and key not in settings]
    if missing:
        raise UserError(f"measurement {name}: {', '.join(missing)}: not set")
    for setting, value in settings.items():
        kind = parameters[setting].annotation
        if kind is bool:
            check_flag(setting, value)
        elif kind in (float, str) or get_origin(kind) is list:
            try:
                checked(kind, value, setting)
            except (TypeError, ValueError) as error:
                raise UserError(f"measurement {name}: {error}, and must be {inspect.formatannotation(kind)}") from None
        elif kind is int or isinstance(value, int):
            check_whole(setting, value, least=1)
