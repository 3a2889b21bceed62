"""Read JSON that someone else may have written, and check content against the types that state its form.

A form is a ``TypedDict``, a dataclass, or a type made of them; the code that writes a file has its content in that very
type. ``Annotated[int, at_least(0)]`` adds a condition.
"""

import json
import math
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import MISSING, fields, is_dataclass
from datetime import datetime
from functools import cache
from pathlib import Path
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, NotRequired, Required, Union, get_args, get_origin, get_type_hints
from typing import is_typeddict as is_typed_dict

from lnexp.errors import near_names
from lnexp.files import read_regular
from lnexp.printable import printable

#: Content is nested no deeper; Python gives up at about a thousand calls.
DEEPEST = 100
#: Characters of a key that a message shows.
MOST_OF_A_KEY = 60
#: Numbers of more digits are no measurements, and those of some hundred are no floats.
MOST_DIGITS = 100
#: What begins a number in JSON that Python reads as infinite, or as an integer of any size.
LONG_NUMBER = re.compile(rf"\d{{{MOST_DIGITS}}}")


def read_json(path: Path, form: Any) -> Any:
    """Return the content of a JSON file of a form.

    Raises:
        OSError: where it cannot be read.
        ValueError, TypeError: where it is malformed, or of another form.
    """
    return checked(form, load_json(read_regular(path)), "it")


def load_json(text: str) -> Any:
    """Return the content of JSON; characters that must not reach a terminal are escaped in it.

    Raises:
        ValueError: where it is malformed, nested too deep, or has a number that is not finite or absurdly long.
    """
    return plain_content(parse_json(text))


def parse_json(text: str, constant: Callable[[str], Any] | None = None) -> Any:
    """Return the content of JSON as it is.

    Args:
        text: the JSON.
        constant: returns what stands for NaN and Infinity, which are no JSON; None: they are refused.

    Raises:
        ValueError: where it is malformed, nested too deep, has an absurdly long number, or a key twice.
    """
    if LONG_NUMBER.search(text):
        raise ValueError(f"a number of more than {MOST_DIGITS} digits")
    try:
        return json.loads(text, parse_constant=constant or _refuse, object_pairs_hook=_object)
    except RecursionError:
        raise ValueError("nested too deep") from None


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return an object of JSON. Raises ValueError where it has a key twice, of which other readers take the first."""
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError(twice(key for key, _ in pairs))
    return found


def twice(keys: Iterable[str]) -> str:
    """Return what is wrong with the keys of an object, one of which is there twice."""
    (key, _), *_ = Counter(keys).most_common(1)
    return f"the key {key[:MOST_OF_A_KEY]!r} twice"


def _refuse(name: str) -> None:
    raise ValueError(f"{name} is not a number")


def plain_content(value: Any, depth: int = 0) -> Any:
    """Return content of JSON or YAML with the texts in it printable.

    Raises:
        ValueError: where it is nested too deep, or has a number that is not finite or absurdly long, a key that is no
            text, or what JSON cannot express, as dates.
    """
    if depth > DEEPEST:
        raise ValueError("nested too deep")
    match value:
        case str():
            return printable(value)
        case float() if not math.isfinite(value):
            raise ValueError("a number that is not finite")
        case int() if abs(value) >= 10**MOST_DIGITS:
            raise ValueError(f"a number of more than {MOST_DIGITS} digits")
        case dict():
            if not all(isinstance(key, str) for key in value):
                raise ValueError("a key that is no text")
            return {printable(key): plain_content(one, depth + 1) for key, one in value.items()}
        case list():
            return [plain_content(one, depth + 1) for one in value]
        case None | bool() | int() | float():
            return value
    raise ValueError(f"a {type(value).__name__}, where values are written")


def at_least(least: float) -> Callable[[Any], None]:
    """Return the condition of numbers from ``least`` on."""

    def check(value: Any) -> None:
        if value < least:
            raise ValueError(f"is below {least:g}")

    return check


def at_most(most: float) -> Callable[[Any], None]:
    """Return the condition of numbers up to ``most``."""

    def check(value: Any) -> None:
        if value > most:
            raise ValueError(f"is above {most:,g}")

    return check


def _is_time(value: str) -> None:
    if datetime.fromisoformat(value).tzinfo is None:
        raise ValueError("has no time zone")


Count = Annotated[int, at_least(0)]
Positive = Annotated[int, at_least(1)]
#: A moment in ISO 8601, with its time zone: moments without one cannot be compared with others.
Time = Annotated[str, _is_time]


def checked(kind: Any, value: Any, name: str) -> Any:
    """Return content as the type that its form states.

    Args:
        kind: the form: a type, a dataclass, which the value becomes, or a ``TypedDict``, whose keys must be there and
            beside which others may be.
        value: what was read.
        name: what it is called in errors.

    Raises:
        TypeError, ValueError: where it has another form; the text names the place.
    """
    origin, arguments = get_origin(kind), get_args(kind)
    if kind is Any:
        return value
    if origin in (NotRequired, Required):
        return checked(arguments[0], value, name)
    if origin is Annotated:
        return _conditioned(checked(arguments[0], value, name), arguments[1:], name)
    if origin in (Union, UnionType):
        return _one_of(arguments, value, name)
    if origin is Literal:
        if value not in arguments:
            raise ValueError(f"{name} is not one of {', '.join(map(str, arguments))}")
        return value
    if origin is list:
        return [checked(arguments[0], one, name) for one in _of_type(list, value, name)]
    if origin is tuple:
        return tuple(checked(arguments[0], one, name) for one in _of_type(list, value, name))
    if origin is dict:
        return {key: checked(arguments[1], one, f"{name}: {key}") for key, one in _of_type(dict, value, name).items()}
    if is_typed_dict(kind):
        return _typed_dict(kind, _of_type(dict, value, name), name)
    if is_dataclass(kind):
        return _dataclass(kind, _of_type(dict, value, name), name)
    return _of_type((int, float) if kind is float else kind, value, name)


def _conditioned(value: Any, conditions: tuple[Callable[[Any], None], ...], name: str) -> Any:
    for check in conditions:
        try:
            check(value)
        except ValueError as error:
            raise ValueError(f"{name}: {error}") from None
    return value


def _one_of(kinds: tuple[Any, ...], value: Any, name: str) -> Any:
    """Return a value of the first kind that it has."""
    if value is None and NoneType in kinds:
        return None
    *others, last = (kind for kind in kinds if kind is not NoneType)
    for kind in others:
        try:
            return checked(kind, value, name)
        except (TypeError, ValueError):
            continue
    return checked(last, value, name)


@cache
def _hints(kind: Any) -> dict[str, Any]:
    """Return the forms of the values of a class, which take long to find."""
    return get_type_hints(kind, include_extras=True)


def _typed_dict(kind: Any, value: dict[Any, Any], name: str) -> dict[Any, Any]:
    hints = _hints(kind)
    if missing := kind.__required_keys__ - value.keys():
        raise TypeError(f"{name} does not have {', '.join(sorted(missing))}")
    return value | {key: checked(hint, value[key], key) for key, hint in hints.items() if key in value}


def _dataclass(kind: Any, value: dict[Any, Any], name: str) -> Any:
    hints = _hints(kind)
    check_keys(value, required_fields(kind), hints, name)
    return kind(**{key: checked(hints[key], one, key) for key, one in value.items()})


def required_fields(kind: Any) -> set[str]:
    """Return the names of the fields of a dataclass that have no default."""
    return {one.name for one in fields(kind) if one.default is MISSING and one.default_factory is MISSING}


def check_keys(value: Mapping[str, Any], needed: Collection[str], known: Collection[str], name: str) -> None:
    """Raise TypeError where a key that is needed is missing, or one is not known; the text names it.

    Args:
        value: what was read.
        needed: the keys that must be there.
        known: all keys that may be.
        name: what the value is called.
    """
    if missing := [key for key in known if key in needed and key not in value]:
        raise TypeError(f"{name} does not have {', '.join(missing)}")
    if unknown := [str(key) for key in value if key not in known]:
        raise TypeError(f"{name}: {unknown[0]}: no such key; {near_names(unknown[0], known)}")


def _of_type(kind: Any, value: Any, name: str) -> Any:
    """Return the value. Raises TypeError where it is not of a type, or ValueError where it is not finite."""
    if not isinstance(value, kind) or (isinstance(value, bool) and kind is not bool):
        raise TypeError(f"{name} is {type(value).__name__}")
    if isinstance(value, float) and not math.isfinite(value):
        raise ValueError(f"{name} is not finite")
    return value
