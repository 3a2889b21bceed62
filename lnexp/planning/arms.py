"""Find the runs that a command line asks for, and what each costs."""

from collections import Counter

from omegaconf import DictConfig

from lnexp.configuration import check_and_resolve, compose, shared_settings
from lnexp.errors import UserError
from lnexp.hashing import short_hash
from lnexp.planning.cost import cost_of
from lnexp.planning.devices import Device
from lnexp.planning.sheet import Line
from lnexp.recipes.command_line import check_overrides, split_recipes, with_corpus
from lnexp.recipes.recipe import jobs_of


def lines(words: list[str], here: str, processes: int, device: Device | None) -> list[Line]:
    """Return a line for arms that cost the same, which are measured once.

    Args:
        words: overrides, recipes among them.
        here: the device to measure on, ``cpu`` or ``cuda``.
        processes: of each run.
        device: that the runs are planned for; None for the one that is measured on.

    Raises:
        UserError: for a recipe, an option or a corpus that is unknown or does not fit.
    """
    alike: dict[str, list[tuple[str, int, DictConfig]]] = {}
    for name, runs, cfg in _configs(words):
        cfg.device = here
        check_and_resolve(cfg)
        if device and cfg.precision not in device.flops:
            raise UserError(f"precision={cfg.precision}: not on a {device.title}; take {', '.join(device.flops)}")
        alike.setdefault(_what_costs(cfg), []).append((name, runs, cfg))
    return [_line(arms, processes, device) for arms in alike.values()]


def _line(arms: list[tuple[str, int, DictConfig]], processes: int, device: Device | None) -> Line:
    names, runs, (cfg, *_) = zip(*arms, strict=True)
    return Line(list(names), sum(runs), cfg, cost_of(cfg, processes, device))


def _configs(words: list[str]) -> list[tuple[str, int, DictConfig]]:
    """Return each arm's name, number of seeds and config."""
    recipes, rest = split_recipes(words)
    if not recipes:
        return [("the run", 1, compose(rest))]
    check_overrides(recipes, rest)
    found = []
    for recipe in recipes:
        shared = with_corpus(recipe, compose(rest).profile, rest)
        jobs = jobs_of(recipe, compose(shared))
        seeds = Counter(job.arm.name for job in jobs)
        first = {job.arm.name: job for job in reversed(jobs)}
        for arm, job in sorted(first.items(), key=lambda item: list(recipe.arms).index(item[0])):
            found.append((f"{recipe.name}/{arm}", seeds[arm], compose([*shared, *job.overrides])))
    return found


def _what_costs(cfg: DictConfig) -> str:
    """Return a hash of the settings that two arms must share to cost the same: those of an array, and the optimizer."""
    return short_hash([shared_settings(cfg), cfg.optimizer._name])
