"""Write and verify a SHA-256 checksum beside each checkpoint, so that damage is noticed.

The file has the format of ``sha256sum``.
"""

import os
from pathlib import Path
from zipfile import BadZipFile, ZipFile

from lnexp.files import read_regular, write_whole
from lnexp.hashing import cached_sha256


def write_checksum(checkpoint: Path) -> None:
    """Write the checksum of a complete checkpoint, after the checkpoint has reached the disk."""
    with checkpoint.open("rb") as file:
        os.fsync(file.fileno())
    write_whole(_beside(checkpoint), f"{cached_sha256(checkpoint)}  {checkpoint.name}\n")


def is_archive(checkpoint: Path) -> bool:
    """Return whether a file is a complete archive, as every checkpoint is.

    The directory of an archive stands at its end, so an archive that was cut short has none. An archive that was
    appended to the rest of an earlier attempt, which a full disk had stopped, does not begin at the file's start.
    """
    try:
        with ZipFile(checkpoint) as archive:
            return min((entry.header_offset for entry in archive.infolist()), default=0) == 0
    except (BadZipFile, FileNotFoundError):
        return False


def is_whole(checkpoint: Path) -> bool:
    """Return whether a checkpoint has the content that was saved.

    A checkpoint without a checksum, as a kill right after saving leaves it, need only be a complete archive.
    """
    if not is_archive(checkpoint):
        return False
    try:
        said = read_regular(_beside(checkpoint), errors="replace").split()
    except FileNotFoundError:
        return True
    return said[:1] == [cached_sha256(checkpoint)]


def has_checksum(checkpoint: Path) -> bool:
    """Return whether a checksum lies beside a checkpoint."""
    return _beside(checkpoint).exists()


def remove_checksum(checkpoint: Path) -> None:
    """Remove the checksum of a checkpoint, before another one is saved under its name."""
    _beside(checkpoint).unlink(missing_ok=True)


def delete(checkpoint: Path) -> None:
    """Delete a checkpoint and its checksum."""
    checkpoint.unlink(missing_ok=True)
    remove_checksum(checkpoint)


def _beside(checkpoint: Path) -> Path:
    return checkpoint.with_name(f"{checkpoint.name}.sha256")
