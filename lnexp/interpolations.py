"""Resolve the interpolations of configs fast."""

from functools import lru_cache
from typing import Any

from omegaconf import _utils, base


def parse_each_once() -> None:
    """Have OmegaConf remember how it parsed the text of an interpolation.

    It parses the text anew whenever a value is read, in more than half of the time that resolving a config takes.
    """
    modules: tuple[Any, ...] = (base, _utils)
    for module in modules:
        if not hasattr(module.parse, "cache_info"):
            module.parse = lru_cache(maxsize=4096)(module.parse)
