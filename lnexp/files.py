"""Writing so that a kill at any moment leaves every file whole."""

import os
from pathlib import Path


def write_whole(path: Path, text: str) -> None:
    """Write ``text`` aside and rename it into place: a reader sees the old file or the new one, never half of one."""
    aside = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        with aside.open("w", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        aside.replace(path)
    finally:
        aside.unlink(missing_ok=True)
