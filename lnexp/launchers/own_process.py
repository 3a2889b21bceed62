"""Train what a command line asks for in a process of its own, and return the folders of its runs."""

import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from lnexp.errors import UserError
from lnexp.options import is_of_hydra, key_of
from lnexp.paths import ROOT
from lnexp.planning.asked import asked
from lnexp.runs.folder import find_folders

#: What a command puts before a mistake, see :func:`lnexp.cli.one_line_errors`.
MISTAKE = "error: "


def train_in_own_process(overrides: Sequence[str]) -> list[Path]:
    """Train as ``scripts/train.py`` does, printing its lines, and return the folders of all runs, each once.

    Args:
        overrides: with absolute paths; more than one run needs no ``-m``.

    Raises:
        UserError: for what cannot be composed, before the process starts, and for what it says went wrong.
    """
    arms = asked([override for override in overrides if not is_of_hydra(override)])
    asked_for = [run for arm in arms for run in arm.runs]  # a sweep's values may give one run twice
    runs = dict.fromkeys(asked_for)
    is_sweep = len(asked_for) > 1 or any(key_of(override) == "recipe" for override in overrides)
    _run([sys.executable, str(ROOT / "scripts" / "train.py"), *(["-m"] if is_sweep else []), *overrides])
    folders = find_folders(arms[0].cfg.runs_dir)
    return [folders[run] for run in runs]


def _run(command: Sequence[str]) -> None:
    """Run a command in the project's folder, print its lines as they come, and raise UserError where it fails.

    Lines pass through this process, because a notebook does not show what its children print themselves.
    """
    lines: list[str] = []
    with subprocess.Popen(
        command, cwd=ROOT, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    ) as process:
        assert process.stdout is not None
        try:
            for line in process.stdout:
                lines.append(line)
                print(line, end="", flush=True)
        except BaseException:  # an interrupt above all; the run then saves its state, and must be able to say so
            process.terminate()
            print(process.stdout.read(), end="", flush=True)
            raise
    if process.returncode:
        raise UserError(_mistake(lines) or f"training ended with exit code {process.returncode}")


def _mistake(lines: Sequence[str]) -> str:
    """Return what a command said was wrong, its last ``error: …`` with the lines behind it; empty for nothing."""
    starts = [number for number, line in enumerate(lines) if line.startswith(MISTAKE)]
    return "".join(lines[starts[-1] :]).removeprefix(MISTAKE).rstrip() if starts else ""
