"""Look up the versions of installed packages, and refuse a torch that is not supported."""

import importlib.metadata
import sys
from collections.abc import Iterable
from contextlib import suppress

from packaging.requirements import InvalidRequirement, Requirement
from packaging.specifiers import SpecifierSet

from lnexp.cli import one_line_errors
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


def refuse_other_torch(wanted: Iterable[str]) -> None:
    """Refuse words of pip that ask for another torch than the one that is installed: it would be used all the same.

    Raises:
        UserError: for the first such word; options of pip, files and addresses are not looked at.
    """
    found = version("torch")
    for word in wanted:
        with suppress(InvalidRequirement):
            asked = Requirement(word)
            if asked.name == "torch" and not asked.url and not asked.specifier.contains(found or "0", prereleases=True):
                raise UserError(f"TORCH={word}: .venv has torch {found}; make clean, and then make install TORCH=…")


if __name__ == "__main__":
    with one_line_errors():
        refuse_other_torch(sys.argv[1:])
