"""Describe a run to wandb before it begins, so that a board can group, filter and name it."""

from collections.abc import Iterator
from typing import Any

from omegaconf import DictConfig

from lnexp.plain import plain
from lnexp.runs.environment import git_state
from lnexp.runs.identity import short_name

#: The longest tag that wandb takes, in characters.
LONGEST_TAG = 64


def tags(cfg: DictConfig) -> list[str]:
    """Return a run's tags: profile, corpus, and the arm where a recipe asked for the run."""
    said = [cfg.profile, cfg.data.name, cfg.get("arm")]
    return [str(tag)[:LONGEST_TAG] for tag in said if tag]


def flat_config(cfg: DictConfig) -> dict[str, Any]:
    """Return every setting by its dotted name, the choices that tell arms apart by a plain one, and the commit."""
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
