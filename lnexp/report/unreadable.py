"""Nothing that a file holds breaks the page: what cannot be read or shown is said instead.

Files may be half written, or another's, and hold anything: hence every ``except Exception`` in this room.
"""

import math
from pathlib import Path
from typing import Any


def what_is_wrong(path: Path, error: Exception) -> str:
    """A file or folder, and why it cannot be read or shown, in a line."""
    return f"{path}: {type(error).__name__}: {' '.join(str(error).split())}"


def plainly(value: Any) -> Any:
    """What JSON can say of a value: other things as text, and nothing of what is not finite."""
    if isinstance(value, dict):
        return {str(key): plainly(one) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [plainly(one) for one in value]
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    return value if value is None or isinstance(value, bool | int | str) else str(value)
