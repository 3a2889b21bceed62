"""What wandb itself reads of a run that was tracked offline."""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest
from helpers import TINY, only_run
from warm_commands import run_warm

from lnexp.runs.folder import RunFolder

OFFLINE = [*(word for word in TINY if not word.startswith("tracker")), "tracker=offline", "probes.every=2"]


def _train(*arguments: str) -> subprocess.CompletedProcess:
    command = [str(Path(__file__).with_name("train_with_wandb.py")), *arguments]
    return run_warm(command, os.environ | {"OMP_NUM_THREADS": "1"})


@pytest.fixture(scope="session")
def train() -> Callable[..., subprocess.CompletedProcess]:
    """Run ``scripts/train.py`` with a tracker."""
    return _train


@cache
def _inspect(folder: Path) -> list[dict]:
    done = subprocess.run(
        [sys.executable, "-m", "wandb", "leet", "inspect", "--json", str(folder)],
        capture_output=True,
        text=True,
        check=True,
    )
    return [json.loads(line) for line in done.stdout.splitlines()]


@pytest.fixture(scope="session")
def inspect() -> Callable[[Path], list[dict]]:
    return _inspect


@pytest.fixture(scope="session")
def offline() -> list[str]:
    """A tiny run that is tracked offline and looks at its gradients."""
    return OFFLINE


@pytest.fixture(scope="session")
def resumed(tmp_path_factory, prepared, offline, train) -> Path:
    """A run that was interrupted after its second epoch's record and before its checkpoint, and went on."""
    here = tmp_path_factory.mktemp("offline")
    words = [*offline, f"runs_dir={here / 'runs'}", f"data_dir={prepared}", "max_epoch=3", "checkpoints.keep=all"]
    assert train(*words).returncode == 0
    folder = RunFolder(only_run(here))
    for epoch in (2, 3):
        folder.checkpoint(epoch).unlink()
    folder.set_status("running")
    again = train(*words)
    assert "goes on with epoch 2" in again.stdout, again.stderr
    assert "WARNING" not in again.stdout + again.stderr
    return folder.path
