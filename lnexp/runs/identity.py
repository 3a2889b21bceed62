"""Which settings make a run the run it is.

Two configs with one identity are one run: its numbers cannot differ, but for the hardware.
"""

from typing import Any

from omegaconf import DictConfig

from lnexp.corpora.prepare import deciding as corpus_deciding
from lnexp.hashing import short_hash
from lnexp.plain import plain

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
    resolved = plain(cfg)
    deciding = {part: resolved[part] for part in DECIDING} | {"data": corpus_deciding(resolved["data"])}
    for key in INDIFFERENT:
        _drop(deciding, key.split("."))
    deciding["fairseq"] = _without_empty(deciding["fairseq"])
    return short_hash(deciding)


def _drop(settings: Any, path: list[str]) -> None:
    for key in path[:-1]:
        settings = settings.get(key)
        if not isinstance(settings, dict):
            return
    settings.pop(path[-1], None)


def _without_empty(settings: dict[str, Any]) -> dict[str, Any]:
    """A group that says nothing is as good as none."""
    return {key: value for key, value in settings.items() if value != {}}


def readable_name(cfg: DictConfig) -> str:
    """What a person looks for in ``ls``: ``pre_ln-adam-lr0.002-w1-inverse_sqrt-s11``."""
    parts = [
        short_name(cfg.model._name),
        short_name(cfg.optimizer._name),
        f"lr{cfg.lr_max:g}",
        f"w{cfg.warmup_updates}",
        short_name(cfg.lr_schedule._name),
        f"s{cfg.seed}",
    ]
    return "-".join(parts)


def short_name(plugin_name: str) -> str:
    """``post_ln`` of ``lnexp_post_ln``."""
    return plugin_name.removeprefix("lnexp_")
