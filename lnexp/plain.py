"""Read configs as plain values: convert them to dictionaries; find, nest and remove settings."""

from collections.abc import Mapping
from typing import Any, cast

from omegaconf import DictConfig, OmegaConf

#: Stands for the value of a setting that is not there.
ABSENT: Any = object()


def plain(cfg: DictConfig) -> dict[str, Any]:
    """Return the resolved contents of a config node as dictionaries, lists and values."""
    return cast(dict[str, Any], OmegaConf.to_container(cfg, resolve=True))


def find(settings: Any, key: str, default: Any = None) -> Any:
    """Return the value of ``a.b.c`` in nested dicts, or ``default`` where it is not there."""
    for part in key.split("."):
        if not isinstance(settings, dict) or part not in settings:
            return default
        settings = settings[part]
    return settings


def nested(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Return settings by dotted names as nested dictionaries: ``{"a.b": 1}`` as ``{"a": {"b": 1}}``."""
    tree: dict[str, Any] = {}
    for key, value in settings.items():
        *path, last = key.split(".")
        inner = tree
        for part in path:
            inner = inner.setdefault(part, {})
        inner[last] = value
    return tree


def drop(settings: Any, key: str) -> None:
    """Remove the key ``a.b.c`` from nested dictionaries where it exists."""
    *path, last = key.split(".")
    for part in path:
        settings = settings.get(part)
        if not isinstance(settings, dict):
            return
    settings.pop(last, None)
