"""Read overrides of a command line without Hydra, which takes long to import and parses paths in its own way."""


def key_of(override: str) -> str:
    """Return the name that an override sets or deletes: ``data.path`` for ``++data.path=…``."""
    return override.lstrip("+~").partition("=")[0]
