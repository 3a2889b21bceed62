"""What wandb itself reads of a run that was tracked offline."""

import json
from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest
from helpers import TINY, only_run, run_script
from warm_commands import run_warm

from lnexp.runs.folder import RunFolder

OFFLINE = [*(word for word in TINY if not word.startswith("tracker")), "tracker=offline", "probes.every=2"]


@cache
def _inspect(folder: Path) -> list[dict]:
    done = run_warm(["-m", "wandb", "leet", "inspect", "--json", str(folder)])
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


@pytest.fixture(scope="session")
def inspect() -> Callable[[Path], list[dict]]:
    return _inspect


@pytest.fixture(scope="session")
def offline() -> list[str]:
    """A tiny run that is tracked offline and looks at its gradients."""
    return OFFLINE


@pytest.fixture(scope="session")
def resumed(tmp_path_factory, prepared, offline) -> Path:
    """A run that was interrupted after its second epoch's record and before its checkpoint, and went on."""
    here = tmp_path_factory.mktemp("offline")
    words = [*offline, f"runs_dir={here / 'runs'}", f"data_dir={prepared}", "max_epoch=3", "checkpoints.keep=all"]
    assert run_script("train", *words).returncode == 0
    folder = RunFolder(only_run(here))
    for epoch in (2, 3):
        folder.saved.of_epoch(epoch).unlink()
    folder.set_status("running")
    again = run_script("train", *words)
    assert "resumes with epoch 2" in again.stdout, again.stderr
    assert "WARNING" not in again.stdout + again.stderr
    return folder.path
