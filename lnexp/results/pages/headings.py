"""Find the headings of a page, and what links call them."""

import re


def headings(text: str) -> list[str]:
    """Return the headings of the second level of a page, in order."""
    return re.findall(r"^## (.+)$", text, re.MULTILINE)


def anchor(heading: str) -> str:
    """Return what a link calls a heading, as GitHub does: in small letters, without punctuation, a dash a space."""
    kept = (one for one in heading.lower() if one in "_- " or one.isalpha() or one.isdecimal())  # ² is neither
    return "".join(kept).replace(" ", "-")
