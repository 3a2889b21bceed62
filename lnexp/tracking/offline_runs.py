"""One folder that has all offline runs of wandb, so that ``wandb leet`` shows them together."""

import os
from contextlib import suppress
from pathlib import Path

#: Below the folder of all runs; hidden, because everything else there is a folder of runs.
ALL = ".wandb"


def link_offline_run(offline_run: Path, runs_dir: Path) -> None:
    """Link an offline run into the folder that has all of them, and drop its links to what is gone.

    Does nothing on a disk that has no links: each run is still in its own folder.

    Args:
        offline_run: its folder ``offline-run-<time>-<identity>``.
        runs_dir: where run folders lie.
    """
    with suppress(OSError):
        links = runs_dir / ALL
        links.mkdir(parents=True, exist_ok=True)
        identity = offline_run.name.rpartition("-")[2]
        for link in links.glob(f"*-{identity}"):
            if link.is_symlink() and not link.exists():
                link.unlink(missing_ok=True)
        (links / offline_run.name).symlink_to(os.path.relpath(offline_run, links), target_is_directory=True)
