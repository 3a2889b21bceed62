"""The command behind ``scripts/wandb_sync.py``."""

import argparse
import subprocess
import sys
from pathlib import Path

from lnexp.cli import one_line_errors

#: Paths that one call of wandb's is given.
AT_ONCE = 50


def main() -> None:
    """``wandb_sync.py``: upload what runs left offline, with ``wandb sync``; what is uploaded already is left out."""
    parser = argparse.ArgumentParser(description="Upload the runs that were tracked offline, with wandb's own sync.")
    parser.add_argument("--runs", type=Path, default=Path("runs"), help="where run folders lie (default: runs)")
    parser.add_argument("--dry-run", action="store_true", help="only say which there are")
    arguments = parser.parse_args()
    with one_line_errors():
        waiting = not_uploaded(arguments.runs)
        print(f"{len(waiting)} offline runs in {arguments.runs} are not uploaded", flush=True)
        if arguments.dry_run:
            print("\n".join(map(str, waiting)))
            return
        codes = [
            subprocess.run(
                [sys.executable, "-m", "wandb", "sync", *map(str, waiting[start : start + AT_ONCE])], check=False
            ).returncode
            for start in range(0, len(waiting), AT_ONCE)
        ]
        sys.exit(max(codes, default=0))


def not_uploaded(runs_dir: Path) -> list[Path]:
    """The offline runs that wandb has not marked as synced, oldest first."""
    found = runs_dir.glob("[!.]*/*-*/wandb/offline-run-*")
    return sorted((path for path in found if not any(path.glob("*.synced"))), key=lambda path: path.name)
