"""A config as plain dicts, lists and values."""

from typing import Any, cast

from omegaconf import DictConfig, OmegaConf


def plain(cfg: DictConfig) -> dict[str, Any]:
    """The resolved contents of a config node."""
    return cast(dict[str, Any], OmegaConf.to_container(cfg, resolve=True))


def find(settings: Any, key: str) -> Any:
    """Return the value of ``a.b.c`` in nested dicts; None where it is not there."""
    for part in key.split("."):
        settings = settings.get(part) if isinstance(settings, dict) else None
    return settings


def drop(settings: Any, key: str) -> None:
    """Take ``a.b.c`` out of nested dicts, if it is there."""
    *path, last = key.split(".")
    for part in path:
        settings = settings.get(part)
        if not isinstance(settings, dict):
            return
    settings.pop(last, None)
