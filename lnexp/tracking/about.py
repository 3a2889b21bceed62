"""What wandb is told of a run before it begins, so that a board can group, filter and name it."""

from collections.abc import Iterator
from typing import Any

from omegaconf import DictConfig

from lnexp.plain import plain
from lnexp.runs.environment import git_state
from lnexp.runs.identity import short_name

#: wandb takes no longer one.
LONGEST_TAG = 64


def tags(cfg: DictConfig) -> list[str]:
    """Profile, corpus, and the arm where a recipe asked for the run."""
    said = [cfg.profile, cfg.data.name, cfg.get("arm")]
    return [str(tag)[:LONGEST_TAG] for tag in said if tag]


def flat_config(cfg: DictConfig) -> dict[str, Any]:
    """Every setting under its dotted name, the choices that tell arms apart under a plain one, and the commit."""
    state = git_state()
    chosen = {
        "placement": short_name(cfg.model._name),
        "optimizer_name": short_name(cfg.optimizer._name),
        "schedule": short_name(cfg.lr_schedule._name),
        "norm_kind": cfg.norm.kind,
        "corpus": cfg.data.name,
        "commit": state["commit"],
        "commit_dirty": state["dirty"],
    }
    return dict(_leaves(plain(cfg))) | chosen


def _leaves(settings: dict[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    for key, value in settings.items():
        if isinstance(value, dict):
            yield from _leaves(value, f"{prefix}{key}.")
        else:
            yield f"{prefix}{key}", value
