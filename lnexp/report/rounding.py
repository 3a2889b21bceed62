"""Round the numbers that the page only draws, which makes it smaller."""

from typing import Any

#: Significant digits, as many as the page writes out.
DIGITS = 4
#: What is never rounded: where the points of a line and the ticks of an axis are along x, as updates.
EXACT = ("x", "ticks")


def rounded(value: Any) -> Any:
    """Return plain data, as :func:`lnexp.report.robust.plainly` makes it, with its numbers rounded."""
    if isinstance(value, dict):
        return {key: one if key in EXACT else rounded(one) for key, one in value.items()}
    if isinstance(value, list):
        return [rounded(one) for one in value]
    return float(f"{value:.{DIGITS}g}") if isinstance(value, float) else value
