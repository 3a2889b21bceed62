"""wandb: offline by default, one run whatever happens to it, and off when told so."""

import subprocess
import sys
from pathlib import Path

from helpers import TINY, only_run, run_script

TRACKED = TINY[:-1]


def inspect(folder: Path) -> str:
    done = subprocess.run(
        [str(Path(sys.executable).parent / "wandb"), "leet", "inspect", "--summary", str(folder)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_an_offline_run_opens_in_leet(tmp_path, where):
    assert run_script("train", *TRACKED, *where, "max_epoch=2").returncode == 0
    folder = only_run(tmp_path)
    (offline,) = (folder / "wandb").glob("offline-run-*")
    identity = folder.name[-8:]
    assert offline.name.endswith(identity), "the run's id is its identity"
    summary = inspect(next(offline.glob("*.wandb")))
    assert identity in summary
    for metric in ("valid_nll", "valid_bleu", "train_loss", "test_bleu"):
        assert metric in summary


def test_none_leaves_nothing(tmp_path, where):
    assert run_script("train", *TINY, *where, "max_epoch=1").returncode == 0
    assert not (only_run(tmp_path) / "wandb").exists()


def test_a_resumed_run_stays_one_run(tmp_path, where):
    settings = [*TRACKED, *where, "max_epoch=2", "checkpoints.keep=all"]
    assert run_script("train", *settings).returncode == 0
    folder = only_run(tmp_path)
    (folder / "checkpoints" / "checkpoint2.pt").unlink()  # as if killed in the second epoch
    (folder / "status.json").write_text('{"state": "running"}')
    assert "goes on with epoch 2" in run_script("train", *settings).stdout
    offline = list((folder / "wandb").glob("offline-run-*"))
    assert len(offline) == 2
    assert {path.name.rpartition("-")[2] for path in offline} == {folder.name[-8:]}, "one id: wandb joins them"
