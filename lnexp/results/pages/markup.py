"""Escape HTML in pages of results: a renderer of Markdown would pass it on to the browser."""

import re

#: What begins a tag or a comment, but for the line breaks of our own tables. A test as ``a < 0.5 * b`` has none.
TAG = re.compile(r"<(?!br>)(?=[A-Za-z/!?])")


def without_markup(page: str) -> str:
    """Return a page in Markdown in which words of labels, machines and recipes stand as they are, tags included."""
    return TAG.sub("&lt;", page)
