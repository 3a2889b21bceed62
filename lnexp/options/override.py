"""Read overrides of a command line without Hydra, which takes long to import and parses paths in its own way."""

from collections.abc import Iterable


def key_of(override: str) -> str:
    """Return the name that an override sets or deletes: ``data.path`` for ``++data.path=…``."""
    return override.lstrip("+~").partition("=")[0]


def is_of_hydra(override: str) -> bool:
    """Return whether an override is Hydra's own, as ``hydra/launcher=array`` and ``+hydra.launcher.name=x``."""
    return key_of(override).startswith("hydra")


def values_said(words: Iterable[str], option: str) -> list[str]:
    """Return what words like ``option=value`` say of an option, in their order; the last one counts."""
    return [word.partition("=")[2] for word in words if word.startswith(f"{option}=")]
