"""What tests share besides fixtures: a tiny run, and the real commands."""

import os
import subprocess
import sys
from pathlib import Path
from zipfile import ZipFile

from lnexp.benchmarks.overhead import TINY_MODEL

ROOT = Path(__file__).resolve().parent.parent

#: A model and a corpus that train in seconds; nothing is learnt.
TINY = [*TINY_MODEL, "scale.toy={train_pairs: 120, valid_pairs: 20, test_pairs: 20}", "tracker=none"]


def run_script(name: str, *arguments: str, env: dict[str, str] | None = None, **options) -> subprocess.CompletedProcess:
    """Run ``scripts/<name>.py`` as a user would; ``env`` is added to the environment."""
    command = [sys.executable, "-W", "ignore", str(ROOT / "scripts" / f"{name}.py"), *arguments]
    environment = os.environ | {"OMP_NUM_THREADS": "1", "CUDA_VISIBLE_DEVICES": "", **(env or {})}
    return subprocess.run(command, capture_output=True, text=True, env=environment, check=False, **options)


def only_run(tmp_path: Path) -> Path:
    """The one run folder under the test's ``runs_dir``."""
    (folder,) = (tmp_path / "runs").glob("*/*-*")
    return folder


def make_whole(checkpoint: Path) -> None:
    """Write a file that passes for a checkpoint, which is an archive, with nothing in it."""
    ZipFile(checkpoint, "w").close()


class Touch:
    """Unpickling it makes a file."""

    def __init__(self, path: Path):
        self.path = path

    def __reduce__(self):
        return Path.touch, (self.path,)


def cut_short(checkpoint: Path) -> None:
    """Leave half of a checkpoint, as a machine that breaks down may."""
    os.truncate(checkpoint, checkpoint.stat().st_size // 2)
