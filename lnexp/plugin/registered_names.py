"""Keep two files from registering one name: one of them would silently stand for both."""

import sys
from typing import Any


def refuse_second(name: str, added: Any, known: Any) -> None:
    """Refuse a name that another file has registered.

    Args:
        name: that is registered.
        added: the class or function that is registered.
        known: the one that has the name already; None where there is none.

    Raises:
        ValueError: where they are of two modules.
    """
    if known is not None and known.__module__ != added.__module__:
        raise ValueError(f"{name} is registered already, by {sys.modules[known.__module__].__file__}")
