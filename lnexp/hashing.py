"""Short names for settings, and digests of files."""

import hashlib
import json
from functools import lru_cache
from pathlib import Path
from typing import Any

from lnexp.errors import UserError


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


def digest_of_state(path: Path) -> str:
    """Hex SHA-256 of a file's bytes, taken once for as long as its size and the time of its last change stay."""
    state = path.stat()
    return _digest_of_state(path, state.st_size, state.st_mtime_ns)


@lru_cache(maxsize=1024)
def _digest_of_state(path: Path, size: int, changed: int) -> str:
    return file_digest(path)


def sha256_of_files(root: str, addresses: list[str]) -> str:
    """Hex SHA-256 over the files below ``root``: what they are, wherever they lie.

    Raises:
        UserError: where ``root`` or a file is missing.
    """
    if Path(root).is_file():
        paths = {"": Path(root)}
    elif Path(root).is_dir():
        paths = {address: Path(root) / address for address in addresses}
    else:
        raise UserError(f"{root}: no such folder")
    if missing := [address for address, path in paths.items() if not path.is_file()]:
        raise UserError(f"{root}: no {', '.join(missing)} in it")
    digest = hashlib.sha256()
    for address, path in sorted(paths.items()):
        digest.update(f"{address} {digest_of_state(path)}\n".encode())
    return digest.hexdigest()
