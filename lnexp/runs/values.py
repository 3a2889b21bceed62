"""Validate single values of records."""

import math
from datetime import datetime
from typing import Any

from lnexp.checks import MOST_WHOLE

#: No measurement is greater: single precision ends at 3e38, and sums and means of these must be finite, too.
MOST_MEASURED = 1e100
#: The greatest whole number up to which a column of numbers holds all.
MOST_EXACT = 2**53


def is_number(value: Any) -> bool:
    """Return whether a value is a finite number that can be measured, or the null of one that was not finite."""
    if value is None or isinstance(value, bool):
        return value is None
    if isinstance(value, int):
        return abs(value) <= MOST_EXACT
    return isinstance(value, float) and math.isfinite(value) and abs(value) <= MOST_MEASURED


def is_count(value: Any) -> bool:
    """Return whether a value is a whole number that counts updates, epochs or layers, with a bound."""
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= MOST_WHOLE


def is_positive(value: Any) -> bool:
    """Return whether a value counts at least one thing."""
    return is_count(value) and value > 0


def is_count_or_null(value: Any) -> bool:
    """Return whether a value counts something, or is null."""
    return value is None or is_count(value)


def are_counts(value: Any) -> bool:
    """Return whether a value is a list of counts."""
    return isinstance(value, list) and all(map(is_count, value))


def are_numbers(value: Any) -> bool:
    """Return whether a value is a list of finite numbers, or nulls of those that were not finite."""
    return isinstance(value, list) and all(map(is_number, value))


def is_text(value: Any) -> bool:
    """Return whether a value is text."""
    return isinstance(value, str)


def is_text_or_null(value: Any) -> bool:
    """Return whether a value is text, or null."""
    return value is None or isinstance(value, str)


def is_time(value: Any) -> bool:
    """Return whether a value is a moment in ISO 8601 with its time zone; others cannot be compared."""
    try:
        return datetime.fromisoformat(value).tzinfo is not None
    except (TypeError, ValueError):
        return False
