"""A checkpoint's digest beside it, in the form of ``sha256sum``: what a full disk or a broken one left is noticed."""

import os
from pathlib import Path
from zipfile import BadZipFile, ZipFile

from lnexp.files import write_whole
from lnexp.hashing import cached_sha256


def seal(checkpoint: Path) -> None:
    """Write the digest of a checkpoint that is whole, once the disk has it."""
    with checkpoint.open("rb") as file:
        os.fsync(file.fileno())
    write_whole(_beside(checkpoint), f"{cached_sha256(checkpoint)}  {checkpoint.name}\n")


def is_archive(checkpoint: Path) -> bool:
    """Whether a file can be a checkpoint, which is an archive.

    The directory of an archive stands at its end, so one that was cut short has none; one that was written after what a
    full disk had left of a first attempt does not begin where the file does.
    """
    try:
        with ZipFile(checkpoint) as archive:
            return min((entry.header_offset for entry in archive.infolist()), default=0) == 0
    except (BadZipFile, FileNotFoundError):
        return False


def is_whole(checkpoint: Path) -> bool:
    """Whether a checkpoint is what was saved; one without a digest, as a kill right after saving leaves it, need only
    be an archive.
    """
    if not is_archive(checkpoint):
        return False
    try:
        said = _beside(checkpoint).read_text(encoding="utf-8", errors="replace").split()
    except FileNotFoundError:
        return True
    return said[:1] == [cached_sha256(checkpoint)]


def unseal(checkpoint: Path) -> None:
    """Take the digest away, for another checkpoint is to be saved under the name."""
    _beside(checkpoint).unlink(missing_ok=True)


def drop(checkpoint: Path) -> None:
    """Delete a checkpoint and its digest."""
    checkpoint.unlink(missing_ok=True)
    unseal(checkpoint)


def _beside(checkpoint: Path) -> Path:
    return checkpoint.with_name(f"{checkpoint.name}.sha256")
