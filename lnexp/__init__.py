"""A reproduction suite for "On Layer Normalization in the Transformer Architecture" (Xiong et al., ICML 2020).

For programs and notebooks, see docs/python.md; what they call is imported at its first use, for torch and pandas take
seconds to import.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from lnexp.api import UserError, compose, load_runs, plot, train, verdicts

__all__ = ["UserError", "compose", "load_runs", "plot", "train", "verdicts"]


def __getattr__(name: str) -> Any:
    """Return a name of :mod:`lnexp.api`."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from lnexp import api

    return getattr(api, name)


def __dir__() -> list[str]:
    """Return all names, for completion."""
    return sorted({*globals(), *__all__})
