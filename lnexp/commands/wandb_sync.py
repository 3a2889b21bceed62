"""Run ``scripts/wandb_sync.py``: upload what was tracked offline."""

import subprocess
import sys
from pathlib import Path

from lnexp.cli import Parser, add_runs_option, one_line_errors
from lnexp.errors import UserError
from lnexp.runs.folder import RunFolder
from lnexp.runs.lock import is_held

#: Paths for one call of wandb.
AT_ONCE = 50


def main() -> None:
    """``wandb_sync.py``: upload offline runs with ``wandb sync``, without those that are uploaded already."""
    parser = Parser(description="Upload the runs that were tracked offline, with wandb's own sync.")
    add_runs_option(parser)
    parser.add_argument("--dry-run", action="store_true", help="only say which there are")
    arguments = parser.parse_args()
    with one_line_errors():
        waiting = not_uploaded(arguments.runs)
        print(f"{len(waiting)} offline runs in {arguments.runs} are over and not uploaded", flush=True)
        if arguments.dry_run:
            print("\n".join(map(str, waiting)))
            return
        for start in range(0, len(waiting), AT_ONCE):
            paths = map(str, waiting[start : start + AT_ONCE])
            subprocess.run([sys.executable, "-m", "wandb", "sync", *paths], check=False)
        if left := set(waiting) & set(not_uploaded(arguments.runs)):  # wandb's exit code does not say
            raise UserError(f"{len(left)} of {len(waiting)} are still not uploaded; see what wandb says above")


def not_uploaded(runs_dir: Path) -> list[Path]:
    """Return the offline runs that wandb has not marked as synced, oldest first, without those in training."""
    found = (file.parent for file in runs_dir.glob("[!.]*/*-*/wandb/offline-run-*/*.wandb"))
    waiting = (path for path in found if not any(path.glob("*.synced")))
    return sorted((path for path in waiting if not is_held(runs_dir, _identity(path))), key=lambda path: path.name)


def _identity(offline_run: Path) -> str:
    return RunFolder(offline_run.parent.parent).identity
