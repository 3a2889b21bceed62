"""Read docstrings, so that help and pages say what the code says."""

import re
from collections.abc import Callable
from inspect import getdoc

from lnexp.printable import one_line


def attributes_of(described: type) -> dict[str, str]:
    """Return the attributes that a class' docstring describes, with the description of each as Markdown."""
    _, _, section = (getdoc(described) or "").partition("Attributes:\n")
    entries = re.findall(r"^    (\w+): (.*(?:\n {8}.*)*)", section, re.MULTILINE)
    return {name: _as_markdown(text) for name, text in entries}


def returned_by(function: Callable[..., object]) -> str:
    """Return what a function returns, by the first sentence of its docstring, as Markdown."""
    text = _as_markdown(getdoc(getattr(function, "func", function)) or "")
    return text.removeprefix("Return ").partition(". ")[0].rstrip(".")


def _as_markdown(text: str) -> str:
    """Return the text of a docstring in one line, with code and references as Markdown has them."""
    return re.sub(r":\w+:`([^`]+)`", r"`\1`", one_line(text).replace("``", "`"))
