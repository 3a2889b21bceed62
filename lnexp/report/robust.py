"""Keep the page robust against the files it shows.

Files may be half written, or come from other programs, and hold anything. Every ``except Exception`` of this package
turns what cannot be read or shown into a line on the page.
"""

import math
from pathlib import Path
from typing import Any

from lnexp.printable import one_line


def what_is_wrong(path: Path, error: Exception) -> str:
    """Return, in a line, which file or folder cannot be read or shown, and why."""
    return f"{path}: {type(error).__name__}: {one_line(str(error))}"


def plainly(value: Any) -> Any:
    """Return a value as JSON can express it: other types as text, numbers that are not finite as None."""
    if isinstance(value, dict):
        return {str(key): plainly(one) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [plainly(one) for one in value]
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    return value if value is None or isinstance(value, bool | int | str) else str(value)
