"""Measure the speed of commands and of training against an earlier commit, in alternation on one machine."""

import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from lnexp.benchmarks.overhead import SMALL_RUN
from lnexp.benchmarks.page import markdown
from lnexp.paths import ROOT

#: The commit that speed is compared with; the environment variable BASE names another one.
BASE = "62cfe4c"
ROUNDS = 5
#: Commands that both commits have, with the script's name first.
COMMANDS: dict[str, Sequence[str]] = {
    "train.py --help": ("train", "--help"),
    "status.py --help": ("status", "--help"),
    "show.py --help": ("show", "--help"),
    "verify.py --help": ("verify", "--help"),
    "verify.py": ("verify",),
    "a run with next to nothing to train": ("train", *SMALL_RUN, "tracker=none", "force=true"),
    "the same, tracked offline": ("train", *SMALL_RUN, "tracker=offline", "force=true"),
    "a run of 120 updates": ("train", "profile=small", "max_epoch=2", "tracker=none", "force=true"),
}


def table() -> str:
    """Return median seconds of each command at both commits, and the median ratio of neighbouring rounds."""
    base = os.environ.get("BASE", BASE)
    rows = []
    with tempfile.TemporaryDirectory() as here, _checked_out(base, Path(here) / "base") as before:
        for name, (script, *arguments) in COMMANDS.items():
            places = {tree: _folders(script, Path(here) / str(number)) for number, tree in enumerate((before, ROOT))}
            for tree in (before, ROOT):  # prepares the corpus, and fills the caches of both
                _seconds(tree, script, [*arguments, *places[tree]])
            rounds = [
                tuple(_seconds(tree, script, [*arguments, *places[tree]]) for tree in (before, ROOT))
                for _ in range(ROUNDS)
            ]
            then, now = (statistics.median(seconds) for seconds in zip(*rounds, strict=True))
            ratio = statistics.median(old / new for old, new in rounds)
            rows.append([name, f"{then:.2f}", f"{now:.2f}", f"{ratio:.2f}"])
    return markdown(("command", f"at {base}, s", "now, s", "times as fast"), rows)


@contextmanager
def _checked_out(commit: str, folder: Path) -> Iterator[Path]:
    """Check a commit of this repository out into a folder, for as long as the block lasts.

    Raises:
        subprocess.CalledProcessError: where the repository does not have the commit.
    """
    git = ["git", "-C", str(ROOT), "worktree"]
    subprocess.run([*git, "add", "--quiet", "--detach", str(folder), commit], check=True)
    try:
        yield folder
    finally:
        subprocess.run([*git, "remove", "--force", str(folder)], check=True)


def _folders(script: str, here: Path) -> list[str]:
    return [f"runs_dir={here}/runs", f"data_dir={here}/data"] if script == "train" else []


def _seconds(tree: Path, script: str, arguments: Sequence[str]) -> float:
    """Return the wall-clock time of a command of a tree, in seconds."""
    command = [sys.executable, "-W", "ignore", f"scripts/{script}.py", *arguments]
    environment = os.environ | {"PYTHONPATH": str(tree), "OMP_NUM_THREADS": "1"}
    start = time.perf_counter()
    # a command that ends with another code is compared, too: verify.py does where results are malformed
    subprocess.run(command, cwd=tree, env=environment, capture_output=True, check=False)
    return time.perf_counter() - start
