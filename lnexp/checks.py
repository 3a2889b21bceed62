"""Values that cannot be meant, refused in one line that names the option, its value and what it must be."""

from collections.abc import Collection
from typing import Any

from lnexp.errors import UserError


def check_whole(option: str, value: Any, least: int, hint: str = "") -> None:
    """Raises UserError where ``value`` is no whole number, or below ``least``; a ``hint`` may follow the latter."""
    if isinstance(value, bool) or not isinstance(value, int):
        raise UserError(f"{option}={value}: must be a whole number, at least {least}")
    if value < least:
        raise UserError(f"{option}={value}: must be at least {least}{hint}")


def check_positive(option: str, value: Any) -> None:
    """Raises UserError where ``value`` is no positive, finite number."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise UserError(f"{option}={value}: must be a number")
    if not 0 < value < float("inf"):
        raise UserError(f"{option}={value}: must be positive and finite")


def check_flag(option: str, value: Any) -> None:
    """Raises UserError where ``value`` is neither true nor false; any other would count as true."""
    if not isinstance(value, bool):
        raise UserError(f"{option}={value}: must be true or false")


def check_choice(option: str, value: Any, choices: Collection[str | None]) -> None:
    """Raises UserError where ``value`` is none of ``choices``."""
    if value not in choices:
        raise UserError(f"{option}={value}: must be one of {', '.join(choice or 'null' for choice in choices)}")
