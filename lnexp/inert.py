"""Check that text runs no code when fairseq evaluates it: some of its models and optimizers run options as Python."""

import ast
import json
import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from typing import Any

#: Text that does nothing where it is evaluated: it has neither brackets nor quotation marks.
WORDS = re.compile(r"[\w ./:,+@~=-]*")


def is_inert(text: str) -> bool:
    """Return whether evaluating a text runs nothing: it is words, or a literal of Python or JSON."""
    return bool(WORDS.fullmatch(text)) or _is_literal(text)


def _is_literal(text: str) -> bool:
    for read in (ast.literal_eval, json.loads):
        with suppress(ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
            read(text)
            return True
    return False


def strings(value: Any, name: str = "") -> Iterator[tuple[str, str]]:
    """Yield every string of a config with its dotted name."""
    return ((where, leaf) for where, leaf in leaves(value, name) if isinstance(leaf, str))


def leaves(value: Any, name: str = "") -> Iterator[tuple[str, Any]]:
    """Yield every value of a config that is no group and no list, with its dotted name."""
    match value:
        case Mapping():
            for key, inner in value.items():
                yield from leaves(inner, f"{name}.{key}" if name else str(key))
        case list():
            for inner in value:
                yield from leaves(inner, name)
        case _:
            yield name, value
