"""A config as plain dicts, lists and values."""

from typing import Any, cast

from omegaconf import DictConfig, OmegaConf


def plain(cfg: DictConfig) -> dict[str, Any]:
    """The resolved contents of a config node."""
    return cast(dict[str, Any], OmegaConf.to_container(cfg, resolve=True))
