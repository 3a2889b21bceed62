"""Compare values of two files, numbers up to rounding: another machine may add up in another order."""

import math
from typing import Any


def alike(one: Any, other: Any) -> bool:
    """Return whether two plain values, of JSON or of a table's row, are the same but for the rounding of numbers."""
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(alike(one[key], other[key]) for key in one)
    if isinstance(one, list | tuple) and isinstance(other, list | tuple):
        return len(one) == len(other) and all(map(alike, one, other))
    if isinstance(one, float) and isinstance(other, float):
        return math.isclose(one, other, rel_tol=1e-6, abs_tol=1e-9)
    return bool(one == other)
