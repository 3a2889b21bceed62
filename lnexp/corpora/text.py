"""Reading parallel text, and saying what is wrong with it."""

import hashlib
from pathlib import Path

from lnexp.errors import UserError

SPLITS = ("train", "valid", "test")


def read_lines(path: Path) -> list[str]:
    """The lines of a UTF-8 file, without line ends.

    Raises:
        UserError: where the file is missing, has no line, or has bytes that are not UTF-8 (the line is named).
    """
    if not path.is_file():
        raise UserError(f"{path}: no such file")
    lines = path.read_bytes().split(b"\n")
    if lines[-1] == b"":
        lines.pop()
    if not lines:
        raise UserError(f"{path}: empty")
    return [_decode(path, number, line) for number, line in enumerate(lines, start=1)]


def _decode(path: Path, number: int, line: bytes) -> str:
    try:
        text = line.decode("utf-8").removesuffix("\r")
    except UnicodeDecodeError as error:
        raise UserError(f"{path}:{number}: not UTF-8 (byte {error.start + 1} of the line)") from None
    if "\r" in text:
        raise UserError(f"{path}:{number}: a carriage return within the line, which some programs take for its end")
    return text


def read_parallel(source: Path, target: Path) -> list[tuple[str, str]]:
    """The sentence pairs of two files.

    Raises:
        UserError: where the files differ in their number of lines, or a side of a pair is empty.
    """
    sides = read_lines(source), read_lines(target)
    if len(sides[0]) != len(sides[1]):
        raise UserError(f"{source} has {len(sides[0])} lines, {target} has {len(sides[1])}: they must be parallel")
    for path, lines in zip((source, target), sides, strict=True):
        for number, line in enumerate(lines, start=1):
            if not line.strip():
                raise UserError(f"{path}:{number}: empty line in parallel text")
    return list(zip(*sides, strict=True))


def sha256_of_file(path: Path) -> str:
    """Hex SHA-256 of a file's bytes."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def sha256_of_folder(folder: Path, names: list[str]) -> str:
    """Hex SHA-256 over the named files of a folder: what a corpus is, wherever it lies.

    Raises:
        UserError: for a missing folder or file.
    """
    if not folder.is_dir():
        raise UserError(f"{folder}: no such folder")
    missing = [name for name in names if not (folder / name).is_file()]
    if missing:
        raise UserError(f"{folder}: no {', '.join(missing)} in it")
    digest = hashlib.sha256()
    for name in names:
        digest.update(f"{name} {sha256_of_file(folder / name)}\n".encode())
    return digest.hexdigest()
