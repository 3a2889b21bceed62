"""Which settings make a run the run it is.

Two configs with one identity are one run: its numbers cannot differ, but for the hardware.
"""

import copy
from collections.abc import Sequence
from typing import Any

from omegaconf import DictConfig

from lnexp.corpora.prepare import deciding as corpus_deciding
from lnexp.hashing import short_hash
from lnexp.plain import drop, plain

#: The parts of a resolved config that decide a run's numbers …
DECIDING = ("fairseq", "data", "evaluation")
#: … less these, which only say where it happens and how it looks.
INDIFFERENT = (
    "data.name",
    "fairseq.common.cpu",
    "fairseq.common.log_format",
    "fairseq.common.log_interval",
    "fairseq.common.no_progress_bar",
    "fairseq.checkpoint.save_dir",
    "fairseq.checkpoint.no_last_checkpoints",
    "fairseq.checkpoint.keep_last_epochs",
    "fairseq.checkpoint.keep_best_checkpoints",
    "fairseq.distributed_training",
    "fairseq.dataset.num_workers",
    "fairseq.dataset.data_buffer_size",
)


def identity(cfg: DictConfig) -> str:
    """Eight hex digits that name the run of a resolved config."""
    return short_hash(_deciding(cfg))


def identities(cfg: DictConfig, seeds: Sequence[int]) -> list[str]:
    """Those of a config at many seeds, for the price of two: resolving a config takes most of the time."""
    probe = copy.deepcopy(cfg)
    one, other = (_deciding_with_seed(probe, seed) for seed in PROBES)
    try:
        return [short_hash(_put_seed(one, other, seed)) for seed in seeds]
    except ValueError:
        return [short_hash(_deciding_with_seed(probe, seed)) for seed in seeds]


#: Two seeds that nobody takes: where settings differ between them, the seed stands.
PROBES = (900_000_001, 900_000_002)


def _deciding_with_seed(cfg: DictConfig, seed: int) -> dict[str, Any]:
    cfg.seed = seed
    return _deciding(cfg)


def _put_seed(one: Any, other: Any, seed: int) -> Any:
    """``one`` with ``seed`` wherever the two are the probes. Raises ValueError where they differ otherwise."""
    if isinstance(one, dict):
        return {key: _put_seed(value, other[key], seed) for key, value in one.items()}
    if isinstance(one, list):
        return [_put_seed(left, right, seed) for left, right in zip(one, other, strict=True)]
    if one == other:
        return one
    if (one, other) != PROBES:
        raise ValueError(f"{one} and {other} are not the seed itself")
    return seed


def _deciding(cfg: DictConfig) -> dict[str, Any]:
    """The settings that decide the numbers."""
    deciding = {part: plain(cfg[part]) for part in DECIDING}
    deciding["data"] = corpus_deciding(deciding["data"])
    for key in INDIFFERENT:
        drop(deciding, key)
    _drop_at_rest(deciding)
    return deciding | {"fairseq": _without_empty(deciding["fairseq"])}


def _drop_at_rest(deciding: dict[str, Any]) -> None:
    """Drop settings that came later, where they say what was so before: a run keeps its identity."""
    fairseq, evaluation = deciding["fairseq"], deciding["evaluation"]
    if fairseq["task"].get("order_seed") == fairseq["common"].get("seed"):
        fairseq["task"].pop("order_seed", None)
    if fairseq["model"].get("norm") == "layer_norm":
        fairseq["model"].pop("norm")
    if fairseq["model"].get("fix_norm") is False:
        fairseq["model"].pop("fix_norm")
    if fairseq["model"].get("checkpoint_activations") is False:  # if true, gradients are added up in another order
        fairseq["model"].pop("checkpoint_activations")
    for option in ("whole_valid_every", "average_last"):
        if evaluation.get(option) == 0:
            evaluation.pop(option)


def _without_empty(settings: dict[str, Any]) -> dict[str, Any]:
    """A group that says nothing is as good as none."""
    return {key: value for key, value in settings.items() if value != {}}


def readable_name(cfg: DictConfig) -> str:
    """What a person looks for in ``ls``: ``pre_ln-adam-lr0.002-w1-inverse_sqrt-s11``."""
    model, optimizer, schedule = (short_name(part._name) for part in (cfg.model, cfg.optimizer, cfg.lr_schedule))
    return name_of(model, cfg.norm.kind, optimizer, cfg.lr_max, cfg.warmup_updates, schedule, cfg.seed)


def name_of(model: str, norm: str, optimizer: str, lr_max: float, warmup_updates: int, schedule: str, seed: int) -> str:
    """That name, of its parts; a norm of the usual kind is left out."""
    norms = [] if norm == "layer_norm" else [norm]
    return "-".join([model, *norms, optimizer, f"lr{lr_max:g}", f"w{warmup_updates}", schedule, f"s{seed}"])


def short_name(plugin_name: str) -> str:
    """``post_ln`` of ``lnexp_post_ln``."""
    return plugin_name.removeprefix("lnexp_")
