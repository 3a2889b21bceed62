"""Look up the versions of installed packages."""

import importlib.metadata


def version(package: str) -> str | None:
    """Return the version of a package, or None where it is not installed (as lnexp on Python's path alone)."""
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return None
