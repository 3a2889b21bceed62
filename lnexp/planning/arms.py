"""Compute what the runs that a command line asks for cost, once for those that cost the same."""

from dataclasses import dataclass, field

from omegaconf import DictConfig

from lnexp.configuration import check_and_resolve, check_device, shared_settings
from lnexp.errors import UserError
from lnexp.hashing import short_hash
from lnexp.planning.asked import asked
from lnexp.planning.cost import costs_of
from lnexp.planning.devices import Device
from lnexp.planning.sheet import Line
from lnexp.training.shares import fitting


@dataclass
class Alike:
    """What costs the same: the names, one config, and the runs that nothing before asks for."""

    cfg: DictConfig
    names: list[str] = field(default_factory=list)
    runs: set[str] = field(default_factory=set)


def lines(words: list[str], here: str, processes: int, device: Device | None) -> list[Line]:
    """Return a line for arms that cost the same, which are measured once. A run that many arms share is counted once.

    Args:
        words: overrides, recipes or several values of an option among them, as ``scripts/train.py -m`` takes them.
        here: the device to measure on, ``cpu`` or ``cuda``.
        processes: of each run, at most; it has as many as share its updates evenly.
        device: that the runs are planned for; None for the one that is measured on.

    Raises:
        UserError: for a recipe, an option or a corpus that is unknown or does not fit.
    """
    found: dict[str, Alike] = {}
    seen: set[str] = set()
    for each in asked(words):
        cfg = each.cfg
        cfg.device = here
        check_and_resolve(cfg)
        if device is None:
            check_device(cfg)
        elif cfg.precision not in device.flops:
            raise UserError(f"precision={cfg.precision}: not on a {device.title}; take {', '.join(device.flops)}")
        alike = found.setdefault(what_costs(cfg), Alike(cfg))
        alike.names.append(each.name)
        alike.runs |= set(each.runs) - seen
        seen |= set(each.runs)
    return [_line(alike, processes, device) for alike in found.values()]


def _line(alike: Alike, processes: int, device: Device | None) -> Line:
    shared = fitting(alike.cfg.update_freq, processes)
    cost, alone = costs_of(alike.cfg, (shared, 1), device)
    return Line(alike.names, len(alike.runs), alike.cfg, shared, cost, alone)


def what_costs(cfg: DictConfig) -> str:
    """Return a hash of the settings that two arms must share to cost the same: those of an array, and the optimizer.

    The order of the data, which runs of an array share, costs nothing.
    """
    return short_hash([shared_settings(cfg, order=False), cfg.optimizer._name])
