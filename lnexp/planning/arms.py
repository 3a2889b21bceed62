"""Find the runs that a command line asks for, and what each costs."""

from dataclasses import dataclass, field

from hydra._internal.core_plugins.basic_sweeper import BasicSweeper
from hydra.core.override_parser.overrides_parser import OverridesParser
from omegaconf import DictConfig, OmegaConf

from lnexp.configuration import check_and_resolve, compose, shared_settings
from lnexp.corpora.known import KNOWN_WORDS
from lnexp.errors import UserError
from lnexp.hashing import short_hash
from lnexp.plain import drop
from lnexp.planning.cost import cost_of
from lnexp.planning.devices import Device
from lnexp.planning.sheet import Line
from lnexp.recipes.command_line import check_overrides, split_recipes, with_corpus
from lnexp.recipes.recipe import jobs_of
from lnexp.runs.identity import identities, identity
from lnexp.tasks import table_of
from lnexp.training.shares import fitting


@dataclass
class Asked:
    """An arm of a recipe, or a combination of a sweep's values.

    Attributes:
        name: what people call it.
        cfg: the config of one run.
        runs: the identities of all its runs.
    """

    name: str
    cfg: DictConfig
    runs: list[str]


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
    for asked in _asked(words):
        cfg = asked.cfg
        cfg.device = here
        check_and_resolve(cfg)
        if device and cfg.precision not in device.flops:
            raise UserError(f"precision={cfg.precision}: not on a {device.title}; take {', '.join(device.flops)}")
        alike = found.setdefault(_what_costs(cfg), Alike(cfg))
        alike.names.append(asked.name)
        alike.runs |= set(asked.runs) - seen
        seen |= set(asked.runs)
    return [_line(alike, processes, device) for alike in found.values()]


def _line(alike: Alike, processes: int, device: Device | None) -> Line:
    shared = fitting(alike.cfg.update_freq, processes)
    cost = cost_of(alike.cfg, shared, device)
    alone = cost if shared == 1 else cost_of(alike.cfg, 1, device)
    return Line(alike.names, len(alike.runs), alike.cfg, shared, cost, alone)


def _asked(words: list[str]) -> list[Asked]:
    """Return the arms of the recipes that a command line asks for, or all combinations of its values."""
    recipes, rest = split_recipes(words)
    if not recipes:
        return _combinations(rest)
    check_overrides(recipes, rest)
    found = []
    for recipe in recipes:
        shared = with_corpus(recipe, compose(rest).profile, rest)
        jobs = jobs_of(recipe, compose(shared))
        seeds = sorted({job.seed for job in jobs})
        first = {job.arm.name: job for job in reversed(jobs)}
        for arm in recipe.arms:
            cfg = _config([*shared, *first[arm].overrides])
            found.append(Asked(f"{recipe.name}/{arm}", cfg, identities(cfg, seeds)))
    return found


def _combinations(words: list[str]) -> list[Asked]:
    """Return every combination of the values of options, as a sweep trains them; a single run is one, too."""
    parsed = OverridesParser.create().parse_overrides(words)
    swept = {override.get_key_element() for override in parsed if override.is_sweep_override()}
    (jobs,) = BasicSweeper.split_arguments(parsed, None)
    found = []
    for job in jobs:
        name = " ".join(word for word in job if word.partition("=")[0] in swept)
        cfg = _config(job)
        found.append(Asked(name or "the run", cfg, [identity(cfg)]))
    return found


def _config(overrides: list[str]) -> DictConfig:
    """Return the config of a run; a corpus of the user's need not be named where its size is known."""
    cfg = compose(overrides)
    if cfg.data.name in KNOWN_WORDS and OmegaConf.is_missing(cfg.data, "path"):
        cfg.data.path, cfg.data.text.sha256 = "", None
    return cfg


def _what_costs(cfg: DictConfig) -> str:
    """Return a hash of the settings that two arms must share to cost the same: those of an array, and the optimizer.

    The order of the data, which runs of an array share, costs nothing.
    """
    settings = shared_settings(cfg)
    for name in table_of(cfg).places(lambda option: option.name == "order_seed"):
        drop(settings, name)
    return short_hash([settings, cfg.optimizer._name])
