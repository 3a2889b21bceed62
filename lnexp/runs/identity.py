"""Which settings make a run the run it is.

Two configs with one identity are one run: its numbers cannot differ, but for the hardware.
"""

from typing import Any

from omegaconf import DictConfig

from lnexp.hashing import short_hash
from lnexp.plain import plain

#: The parts of a resolved config that decide a run's numbers …
DECIDING = ("fairseq", "data", "evaluation")
#: … less these, which only say where it happens and how it looks.
INDIFFERENT = (
    "data.name",
    "data.path",
    "data.text.path",
    "fairseq.common.cpu",
    "fairseq.common.log_format",
    "fairseq.common.log_interval",
    "fairseq.common.no_progress_bar",
    "fairseq.checkpoint",
    "fairseq.dataset.num_workers",
    "fairseq.dataset.data_buffer_size",
)


def identity(cfg: DictConfig) -> str:
    """Eight hex digits that name the run of a resolved config."""
    resolved = plain(cfg)
    deciding = {part: resolved[part] for part in DECIDING}
    for key in INDIFFERENT:
        _drop(deciding, key.split("."))
    return short_hash(deciding)


def _drop(settings: Any, path: list[str]) -> None:
    for key in path[:-1]:
        settings = settings.get(key)
        if not isinstance(settings, dict):
            return
    settings.pop(path[-1], None)


def readable_name(cfg: DictConfig) -> str:
    """What a person looks for in ``ls``: ``pre_ln-adam-lr0.002-w1-inverse_sqrt-s11``."""
    parts = [
        _short(cfg.model._name),
        _short(cfg.optimizer._name),
        f"lr{cfg.lr_max:g}",
        f"w{cfg.warmup_updates}",
        _short(cfg.lr_schedule._name),
        f"s{cfg.seed}",
    ]
    return "-".join(parts)


def _short(plugin_name: str) -> str:
    return plugin_name.removeprefix("lnexp_")
