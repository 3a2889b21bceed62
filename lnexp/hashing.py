"""Short names for settings, and digests of files."""

import hashlib
import json
from pathlib import Path
from typing import Any


def _canonical(value: Any) -> Any:
    """``1`` and ``1.0`` are one number, and a tuple is a list."""
    if isinstance(value, dict):
        return {str(key): _canonical(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_canonical(item) for item in value]
    if isinstance(value, float) and value.is_integer():
        return int(value)
    return value


def short_hash(settings: Any) -> str:
    """Eight hex digits of the SHA-256 of JSON-like ``settings``; the order of keys does not matter."""
    text = json.dumps(_canonical(settings), sort_keys=True, ensure_ascii=False)
    return hashlib.sha256(text.encode()).hexdigest()[:8]


def file_digest(path: Path, algorithm: str = "sha256") -> str:
    """Hex digest of a file's bytes."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, algorithm).hexdigest()
