"""What a probe is, and which there are."""

import inspect
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import torch

from lnexp.checks import check_flag, check_whole
from lnexp.errors import UserError, near_names

#: One measurement: what was varied and what was found.
Row = dict[str, Any]


@dataclass(frozen=True)
class Context:
    """What every probe is told.

    Attributes:
        seed: of all that is drawn.
        overrides: of ``scripts/train.py``'s config: which corpus, where it lies.
    """

    seed: int
    overrides: Sequence[str] = ()


#: Takes the context and settings by name, and measures.
Probe = Callable[..., list[Row]]
PROBES: dict[str, Probe] = {}


def register_probe(probe: Probe) -> Probe:
    """Function decorator: recipes know the probe by the function's name."""
    PROBES[probe.__name__] = probe
    return probe


def measure(name: str, context: Context, settings: dict[str, Any]) -> list[Row]:
    """What the probe of that name finds; equal seeds find equal numbers, whatever was measured before.

    Raises:
        UserError: for a probe that there is none of, settings that it does not have or lacks, sizes below 1, or a
            number that is not finite.
    """
    if name not in PROBES:
        raise UserError(f"probe={name}: there is none; {near_names(name, PROBES)}")
    parameters = dict(list(inspect.signature(PROBES[name]).parameters.items())[1:])
    for setting in settings:
        if setting not in parameters:
            raise UserError(f"probe {name} has no setting {setting}; {near_names(setting, parameters)}")
    missing = [key for key, what in parameters.items() if what.default is what.empty and key not in settings]
    if missing:
        raise UserError(f"probe {name}: {', '.join(missing)}: not set")
    for setting, value in settings.items():
        if parameters[setting].annotation is bool:
            check_flag(setting, value)
        elif isinstance(value, int):
            check_whole(setting, value, least=1)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(context.seed)
        rows = PROBES[name](context, **settings)
    for row in rows:
        for column, value in row.items():
            if isinstance(value, float) and not math.isfinite(value):
                raise UserError(f"probe {name}, seed {context.seed}: {column} is {value} in {row}")
    return rows
