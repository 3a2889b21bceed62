"""Look up the versions of installed packages, and refuse a torch that is not supported."""

import importlib.metadata

from packaging.specifiers import SpecifierSet

from lnexp.errors import UserError

#: The versions of torch that lnexp works with, those of pyproject.toml. Before 2.6 a checkpoint of "weights alone"
#: could run code (CVE-2025-32434).
TORCH = SpecifierSet(">=2.6,<2.14")


def version(package: str) -> str | None:
    """Return the version of a package, or None where it is not installed (as lnexp on Python's path alone)."""
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return None


def check_torch() -> None:
    """Refuse a torch outside :data:`TORCH`. Raises UserError."""
    found = version("torch")
    if found is None or found not in TORCH:
        raise UserError(f"torch {found}: lnexp needs torch{TORCH}; install one of these")
