"""Import every module of a package, so that adding a file is all it takes to register something."""

import importlib
import pkgutil


def import_all_modules(package_name: str, package_path: list[str]) -> None:
    """Import each module directly inside the package ``package_name`` (its ``__name__`` and ``__path__``)."""
    for module in pkgutil.iter_modules(package_path):
        importlib.import_module(f"{package_name}.{module.name}")
