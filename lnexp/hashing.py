"""Hash settings and files."""

import hashlib
import json
from functools import cache
from pathlib import Path
from typing import Any

from lnexp.errors import UserError


def _canonical(value: Any) -> Any:
    """Return a value in the form that is hashed: ``1.0`` as ``1``, tuples as lists, keys as strings."""
    if isinstance(value, dict):
        return {str(key): _canonical(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_canonical(item) for item in value]
    if isinstance(value, float) and value.is_integer():
        return int(value)
    return value


def short_hash(settings: Any) -> str:
    """Return eight hex digits of the SHA-256 of JSON-like ``settings``; the order of keys does not matter."""
    text = json.dumps(_canonical(settings), sort_keys=True, ensure_ascii=False)
    return hashlib.sha256(text.encode()).hexdigest()[:8]


def file_digest(path: Path, algorithm: str = "sha256") -> str:
    """Return the hex digest of a file's bytes."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, algorithm).hexdigest()


def cached_sha256(path: Path) -> str:
    """Return the hex SHA-256 of a file, cached while its inode, size and time of modification stay the same."""
    state = path.stat()
    return _cached_sha256(path, state.st_ino, state.st_size, state.st_mtime_ns)


@cache  # of all files: a corpus may have thousands, which are asked for in one order
def _cached_sha256(path: Path, inode: int, size: int, modified: int) -> str:
    return file_digest(path)


def sha256_of_files(root: str, addresses: list[str]) -> str:
    """Return the hex SHA-256 of files, by their addresses and contents; it does not depend on the path of ``root``.

    Args:
        root: a folder, or one file that has all addresses (an archive).
        addresses: paths below the folder.

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
        digest.update(f"{address} {cached_sha256(path)}\n".encode())
    return digest.hexdigest()
