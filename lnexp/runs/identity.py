"""Compute the identity of a run from the settings that decide its numbers, and a name that people can read.

Two configs with one identity are one run: its numbers differ by the hardware alone, and with dropout or in half
precision by whether it is trained in an array, and in which. Hence the version of the numerics is part of it: a run of
an older version does not stand for one of today's.
"""

import copy
import re
from collections.abc import Mapping, Sequence
from typing import Any

from omegaconf import DictConfig

from lnexp.hashing import short_hash
from lnexp.numerics import FIRST, NUMERICS, asking_for
from lnexp.options import NONE, OURS, Option, SameAs, Table
from lnexp.plain import drop, find, plain
from lnexp.tasks import table_of

#: The parts of a resolved config that decide the numbers of every task's runs, less the options in them that do not.
DECIDING = ("fairseq", "data", "evaluation")

#: Further parts that decide, which configs of older runs do not have.
LATER = ("intervention",)


def identity(cfg: DictConfig | Mapping[str, Any], numerics: int = NUMERICS) -> str:
    """Return eight hex digits that name the run of a config.

    Args:
        cfg: the config, or its resolved settings, which are of today's version of the numerics.
        numerics: the version of the numerics; an earlier one gives the identities that runs had then.
    """
    return short_hash(deciding_settings(cfg, numerics))


def identities(cfg: DictConfig, seeds: Sequence[int], numerics: int = NUMERICS) -> list[str]:
    """Return the identities of a config at many seeds.

    It takes as long as two identities: resolving a config takes most of the time, and is done at two seeds.

    Args:
        cfg: the config.
        seeds: the seeds.
        numerics: see :func:`identity`.
    """
    sample = copy.deepcopy(cfg)
    one, other = (_deciding_with_seed(sample, seed, numerics) for seed in SAMPLE_SEEDS)
    try:
        return [short_hash(_with_seed(one, other, seed, table_of(cfg))) for seed in seeds]
    except ValueError:
        return [short_hash(_deciding_with_seed(sample, seed, numerics)) for seed in seeds]


#: Two seeds that nobody takes: where settings differ between them, there is the seed.
SAMPLE_SEEDS = (900_000_001, 900_000_002)


def _deciding_with_seed(cfg: DictConfig, seed: int, numerics: int) -> dict[str, Any]:
    cfg.seed = seed
    return deciding_settings(cfg, numerics)


def _with_seed(one: dict[str, Any], other: dict[str, Any], seed: int, table: Table) -> dict[str, Any]:
    """Return the deciding settings with a seed, given those with the sample seeds.

    An ``order_seed`` that was stated is left out where it is this seed, as it was not with the samples.
    """
    deciding: dict[str, Any] = _put_seed(one, other, seed)
    _omit_what_came_later(deciding, table)
    return deciding | {"fairseq": _without_empty(deciding["fairseq"])}


def _put_seed(one: Any, other: Any, seed: int) -> Any:
    """Return ``one`` with ``seed`` wherever it and ``other`` are the sample seeds.

    Raises:
        ValueError: where they differ in another way.
    """
    if isinstance(one, dict):
        return {key: _put_seed(value, other[key], seed) for key, value in one.items()}
    if isinstance(one, list):
        return [_put_seed(left, right, seed) for left, right in zip(one, other, strict=True)]
    if one == other:
        return one
    if (one, other) != SAMPLE_SEEDS:
        raise ValueError(f"{one} and {other} are not the seed itself")
    return seed


def deciding_settings(cfg: DictConfig | Mapping[str, Any], numerics: int = NUMERICS) -> dict[str, Any]:
    """Return the settings that decide the numbers, and the version of the numerics where it is not the first."""
    table = table_of(cfg)
    values = {part: cfg[part] for part in (*DECIDING, *_parts_of_the_task(table))}
    values |= {part: cfg[part] for part in LATER if part in cfg}
    with asking_for(numerics):
        deciding = {
            part: plain(value) if isinstance(value, DictConfig) else copy.deepcopy(value)
            for part, value in values.items()
        }
    for name in table.places(lambda option: not option.decides):
        drop(deciding, name)
    _omit_what_came_later(deciding, table)
    _name_equal_schedules_alike(deciding["fairseq"].get("lr_scheduler", {}))
    version = {} if numerics == FIRST else {"numerics": numerics}
    threads = {} if cfg.get("threads", 1) == 1 else {"threads": cfg["threads"]}
    return deciding | {"fairseq": _without_empty(deciding["fairseq"])} | version | threads


def _parts_of_the_task(table: Table) -> list[str]:
    """Return the parts of a config that only the task has, and that decide; every task's reach fairseq's config."""
    known = {*DECIDING, *(option.name.partition(".")[0] for option in OURS)}
    parts = dict.fromkeys(option.name.partition(".")[0] for option in table.of_task if option.decides)
    return [part for part in parts if part not in known]


def _omit_what_came_later(deciding: dict[str, Any], table: Table) -> None:
    """Drop options at the value that held before there was the option: a run keeps its identity."""
    for option in table.rows:
        if option.omitted_at is not NONE:
            for place in table.places_of(option):
                if find(deciding, place) == _value_before(option, deciding, table):
                    drop(deciding, place)


def _value_before(option: Option, deciding: dict[str, Any], table: Table) -> Any:
    value = option.omitted_at
    if not isinstance(value, SameAs):
        return value
    places = table.places(lambda other: other.name == value.name)
    return next(found for place in places if (found := find(deciding, place)) is not None)


def _name_equal_schedules_alike(schedule: dict[str, Any]) -> None:
    """Call a coupled schedule decoupled whose decay would begin at the same update: the rates are the same."""
    if schedule.get("form") == "coupled" and schedule["warmup_updates"] == schedule["decay_from"]:
        schedule["form"] = "decoupled"


def _without_empty(settings: dict[str, Any]) -> dict[str, Any]:
    """Return the settings without empty groups."""
    return {key: value for key, value in settings.items() if value != {}}


def readable_name(cfg: DictConfig) -> str:
    """Return what a person looks for in ``ls``, as ``pre_ln-adam-lr0.002-w1-inverse_sqrt-s11``.

    What else was said of the run, see :func:`label_of_overrides`, stands before the seed.
    """
    model, optimizer, schedule = (short_name(part._name) for part in (cfg.model, cfg.optimizer, cfg.lr_schedule))
    schedule = "-".join(filter(None, (schedule, str(cfg.get("label") or ""))))
    return name_of(model, cfg.norm.kind, optimizer, cfg.lr_max, cfg.warmup_updates, schedule, cfg.seed)


#: Options that the names of runs have anyway.
NAMED = {"model", "norm", "optimizer", "lr_schedule", "lr_max", "warmup_updates", "seed"}
#: The most letters that a label has.
LONGEST_LABEL = 40


def label_of_overrides(overrides: Sequence[str]) -> str:
    """Return what overrides say that decides a run's numbers and is not in its name, as ``dropout0.3-max_epoch5``."""
    said = [override.lstrip("+").partition("=") for override in overrides if "=" in override]
    tasks = [value for key, _, value in said if key == "task"]
    table = table_of({"task": tasks[-1] if tasks else None})
    words = [f"{key.rpartition('.')[2]}{value}" for key, _, value in said if key not in NAMED and table.decides(key)]
    return re.sub(r"[^\w.-]+", "_", "-".join(words))[:LONGEST_LABEL].strip("-_")


def name_of(model: str, norm: str, optimizer: str, lr_max: float, warmup_updates: int, schedule: str, seed: int) -> str:
    """Return the readable name of a run with these settings; layer normalization, the usual norm, is left out."""
    norms = [] if norm == "layer_norm" else [norm]
    return "-".join([model, *norms, optimizer, f"lr{lr_max:g}", f"w{warmup_updates}", schedule, f"s{seed}"])


def label_of(cfg: DictConfig) -> str:
    """Return a run's settings in words, as ``post-ln adam lr .004 warm-up 300 s12``; usual parts are left out.

    What a sweep varies besides stands behind the placement, as in ``post-ln dropout0.3 adam …``.
    """
    schedule = short_name(cfg.lr_schedule._name)
    words = [
        short_name(cfg.model._name).replace("_", "-"),
        *filter(None, [str(cfg.get("label") or "")]),
        *([] if cfg.norm.kind == "layer_norm" else [cfg.norm.kind.replace("_", "-")]),
        short_name(cfg.optimizer._name),
        *([] if schedule == "inverse_sqrt" else [schedule]),
    ]
    rate = f"{cfg.lr_max:g}".removeprefix("0")
    warmup = "no warm-up" if cfg.warmup_updates == 1 else f"warm-up {cfg.warmup_updates}"
    return f"{' '.join(words)} lr {rate} {warmup} s{cfg.seed}"


def short_name(plugin_name: str) -> str:
    """Return ``post_ln`` for ``lnexp_post_ln``."""
    return plugin_name.removeprefix("lnexp_")
