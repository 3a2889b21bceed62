"""Which version of a package is installed."""

import importlib.metadata


def version(package: str) -> str | None:
    """None where it is not installed, as we ourselves are not where only our folder lies on Python's path."""
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return None
