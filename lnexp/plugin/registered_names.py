"""Keep two files from registering one name: one of them would silently stand for both."""

import sys
from collections.abc import Mapping
from typing import Any

#: The files that have registered names, by the registry and the name.
_FILES: dict[tuple[int, str], str] = {}


def refuse_second(registry: Mapping[str, Any], name: str) -> None:
    """Refuse a name that another file has registered; to be called by a decorator, which that file calls.

    Args:
        registry: of all names.
        name: that is about to be registered.

    Raises:
        ValueError: where the name is there already, from another file.
    """
    file = sys._getframe(2).f_code.co_filename
    known = _FILES.get((id(registry), name), file)
    if name in registry and known != file:
        raise ValueError(f"{name} is registered already, by {known}")
    _FILES[id(registry), name] = file
