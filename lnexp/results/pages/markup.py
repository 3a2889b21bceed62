"""Escape HTML and foreign images in pages of results: a renderer of Markdown would pass them on to the browser."""

import re

#: What begins a tag or a comment, but for the line breaks of our own tables. A test as ``a < 0.5 * b`` has none.
TAG = re.compile(r"<(?!br>)(?=[A-Za-z/!?])")
#: What begins an image that is no figure beside the page, and would be fetched from elsewhere.
IMAGE = re.compile(r"!(?=\[)(?!\[((?!\]\().)*\]\(\w+\.png\))")


def without_markup(page: str) -> str:
    """Return a page in Markdown in which words of labels, machines and recipes stand as they are, tags and images
    included.
    """
    return IMAGE.sub("&#33;", TAG.sub("&lt;", page))
