"""Refuse values that cannot be meant, in one line that names the option, its value and what it must be."""

import json
import re
import sys
from collections.abc import Callable, Collection
from dataclasses import dataclass
from functools import partial
from typing import Any

from lnexp.errors import UserError
from lnexp.inert import is_inert, strings

#: The most characters of a name, which is a part of a folder's.
LONGEST_NAME = 100
#: The most updates that an option lists.
MOST_UPDATES = 1000
#: No whole number that can be meant is greater.
MOST_WHOLE = 10**12


def check_whole(option: str, value: Any, least: int, hint: str = "", most: int | None = None) -> None:
    """Refuse what is not a whole number, or is below ``least`` or above ``most``.

    Args:
        option: the name to blame.
        value: what it was given.
        least: the smallest value that is allowed.
        hint: a clause that follows the message about the smallest value.
        most: the greatest value that is allowed; None: :data:`MOST_WHOLE`.

    Raises:
        UserError: for such a value.
    """
    if isinstance(value, bool) or not isinstance(value, int):
        raise UserError(f"{option}={value}: must be a whole number, at least {least}")
    if value < least:
        raise UserError(f"{option}={value}: must be at least {least}{hint}")
    greatest = MOST_WHOLE if most is None else most
    if value > greatest:
        raise UserError(f"{option}={value}: must be at most {greatest}")


def whole_said(option: str, said: str, least: int) -> int:
    """Return the whole number that a word of a command line says. Raises UserError, as :func:`check_whole`."""
    check_whole(option, int(said) if said.isdecimal() else said, least)
    return int(said)


def check_positive(option: str, value: Any) -> None:
    """Refuse what is not a positive, finite number. Raises UserError."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise UserError(f"{option}={value}: must be a number")
    if not (value > 0 and _is_finite(value)):
        raise UserError(f"{option}={value}: must be positive and finite")


def check_number(option: str, value: Any, least: float, below: float) -> None:
    """Refuse what is not a number from ``least`` to below ``below``. Raises UserError."""
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    if not is_number or not _is_finite(value) or not least <= value < below:
        raise UserError(f"{option}={value}: must be {_range(least, below)}")


def check_fraction(option: str, value: Any) -> None:
    """Refuse what is not a number from 0 to 1, both included. Raises UserError."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 1:
        raise UserError(f"{option}={value}: must be a number from 0 to 1")


def _is_finite(value: float) -> bool:
    """Return whether a number is one that a float can have; whole numbers have no end."""
    return abs(value) <= sys.float_info.max


def _range(least: float, below: float) -> str:
    start = "a finite number" if least == float("-inf") else f"a number from {least:g}"
    return start if below == float("inf") else f"{start} to below {below:g}"


def check_flag(option: str, value: Any) -> None:
    """Refuse what is neither true nor false; any other value would count as true. Raises UserError."""
    if not isinstance(value, bool):
        raise UserError(f"{option}={value}: must be true or false")


def check_choice(option: str, value: Any, choices: Collection[str | None]) -> None:
    """Refuse what is none of ``choices``. Raises UserError."""
    if value not in choices:
        raise UserError(f"{option}={value}: must be one of {', '.join(choice or 'null' for choice in choices)}")


def check_text(option: str, value: Any) -> None:
    """Refuse what is not text, or is empty. Raises UserError."""
    if not isinstance(value, str) or not value:
        raise UserError(f"{option}={value}: must be text")


def check_group(option: str, value: Any) -> None:
    """Refuse what is not a group of options, given as a dictionary. Raises UserError."""
    if not isinstance(value, dict):
        raise UserError(f"{option}={value}: must be a group of options")


def check_inert(option: str, value: Any) -> None:
    """Refuse text within a group that would run as code where fairseq evaluates it. Raises UserError."""
    for name, text in strings(value, option):
        if not is_inert(text):
            raise UserError(f"{name}={text}: must be words, a number or a list; fairseq would run it as code")


def check_name(option: str, value: Any) -> None:
    """Refuse what cannot name a folder or a file within one. Raises UserError."""
    if not re.fullmatch(r"[\w-][\w.-]*", str(value)) or len(str(value)) > LONGEST_NAME:
        kinds = "letters, digits, - _ and ., and not begin with ."
        raise UserError(f"{option}={value}: must be at most {LONGEST_NAME} {kinds}")


def check_patterns(option: str, value: Any) -> None:
    """Refuse what is neither null, nor text, nor a list of texts. Raises UserError."""
    texts = value if isinstance(value, list | tuple) else [value]
    if value is not None and not (texts and all(isinstance(text, str) and text for text in texts)):
        raise UserError(f"{option}={value}: must be names or patterns as post_ln_*")


def check_updates(option: str, value: Any) -> None:
    """Refuse what is neither ``log`` nor a list of numbers of updates, from 1, and what is too long for a run's
    ``config.yaml``. Raises UserError.
    """
    if value == "log":
        return
    if not isinstance(value, list | tuple):
        raise UserError(f"{option}={value}: must be log or a list as [1,10,100]")
    if len(value) > MOST_UPDATES:
        raise UserError(f"{option}: {len(value)} updates; at most {MOST_UPDATES}")
    for one in value:
        check_whole(option, one, least=1)


@dataclass(frozen=True)
class Kind:
    """Which values an option takes.

    Attributes:
        words: for people, as ``a whole number from 1``.
        check: raises UserError for another value of the option that it is given the name of.
    """

    words: str
    check: Callable[[str, Any], None]

    def or_null(self) -> "Kind":
        """Return the kind that takes null, too."""
        return Kind(f"{self.words}, or null", self._check_unless_null)

    def _check_unless_null(self, option: str, value: Any) -> None:
        if value is not None:
            self.check(option, value)


def whole(least: int, hint: str = "", most: int | None = None) -> Kind:
    """Return the kind of whole numbers from ``least`` on, up to ``most``."""
    words = f"a whole number from {least}" + ("" if most is None else f" to {most}")
    return Kind(words, partial(check_whole, least=least, hint=hint, most=most))


def number(least: float = float("-inf"), below: float = float("inf")) -> Kind:
    """Return the kind of numbers from ``least`` to below ``below``."""
    return Kind(_range(least, below), partial(check_number, least=least, below=below))


def check_numbers(option: str, value: Any, count: int, least: float, below: float) -> None:
    """Refuse what is not a list of ``count`` numbers from ``least`` to below ``below``. Raises UserError."""
    if not isinstance(value, list | tuple) or len(value) != count:
        raise UserError(f"{option}={value}: must be {count} numbers")
    for one in value:
        check_number(option, one, least, below)


def numbers(count: int, least: float, below: float) -> Kind:
    """Return the kind of lists of so many numbers from ``least`` to below ``below``."""
    return Kind(f"{count} numbers", partial(check_numbers, count=count, least=least, below=below))


def only(value: str | int | None, why: str) -> Kind:
    """Return the kind of options that have one value; ``why`` is said of every other one."""
    words = value if value and isinstance(value, str) else json.dumps(value)

    def check(option: str, other: Any) -> None:
        if other != value:
            raise UserError(f"{option}={other}: must be {words}; {why}")

    return Kind(words, check)


def beginning_with(first: str, why: str) -> Kind:
    """Return the kind of names with commas between them of which the first is ``first``."""

    def check(option: str, names: Any) -> None:
        if str(names).partition(",")[0] != first:
            raise UserError(f"{option}={names}: must begin with {first}; {why}")

    return Kind(f"{first}, or names after it as {first},test", check)


def choice(*choices: str) -> Kind:
    """Return the kind of a few names."""
    return Kind(" | ".join(choices), partial(check_choice, choices=choices))


def checked_elsewhere(words: str) -> Kind:
    """Return the kind of options whose values are checked where they are used, and not before: it takes any value.

    Args:
        words: what values there are, for help.
    """
    return Kind(words, lambda option, value: None)


NAME = Kind("letters, digits, - _ and .", check_name)
POSITIVE = Kind("a positive number", check_positive)
FRACTION = Kind("a number from 0 to 1", check_fraction)
FLAG = Kind("true | false", check_flag)
TEXT = Kind("text", check_text)
UPDATES = Kind("log | a list of updates", check_updates)
PATTERNS = Kind("names or patterns, or null", check_patterns)
