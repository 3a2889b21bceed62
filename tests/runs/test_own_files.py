"""What a run writes into its folder is told from what others put there."""

import os
import shutil
from contextlib import suppress
from itertools import count
from pathlib import Path

import pytest
from helpers import make_whole
from omegaconf import OmegaConf

from lnexp.errors import UserError
from lnexp.runs import own_files
from lnexp.runs.checksum import write_checksum


def test_what_a_kill_left_half_written_is_removed(folder):
    make_whole(folder.saved.of_epoch(1))
    number = "0123456789abcdef" * 2
    for path in (
        folder.path / f".status.json.{number}",
        folder.checkpoints / f".checkpoint1.pt.sha256.{number}",
        folder.checkpoints / "checkpoint2.pt.tmp",
        folder.checkpoints / "checkpoint2.pt.sha256",
    ):
        path.write_text("{")
    assert folder.drop_leftovers() == []
    left = sorted(path.name for path in folder.path.rglob("*") if path.is_file())
    assert left == ["checkpoint1.pt", "checkpoint1.pt.sha256"]


def test_what_others_put_into_the_folder_stays(folder):
    others = [
        folder.path / ".ipynb_checkpoints" / "notes.ipynb",
        folder.path / ".notes",
        folder.path / "notes.txt",
        folder.path / f".x.{'0' * 32}" / "file",
        folder.checkpoints / ".gitignore",
        folder.checkpoints / "mine.tmp",
        folder.checkpoints / "mine.pt.sha256",
        folder.checkpoints / "checkpointmine.pt.tmp",
        folder.checkpoints / "checkpoint_mine.pt.sha256",
        folder.checkpoints / "crash_notes.pt.tmp",
        folder.checkpoints / f".notes.md.{'0' * 32}",
        folder.path / f".notes.md.{'0' * 32}",
        folder.path / "hypotheses" / "test.mine.txt",
        folder.path / "wandb" / "notes.txt",
        folder.checkpoints / "checkpoint7.pt" / "file",
        folder.checkpoints / "checkpoint²3.pt",
        folder.checkpoints / "checkpoint_²3_7.pt",
    ]
    for path in others:
        path.parent.mkdir(exist_ok=True)
        path.write_text("mine")
    make_whole(folder.saved.of_epoch(1))
    assert folder.drop_leftovers() == []
    assert folder.saved.newest() == folder.saved.of_epoch(1)
    folder.drop_after(0)
    folder.prune(newest=1, best=False)
    assert all(path.read_text() == "mine" for path in others)
    folder.set_status("running")
    own_files.clear(folder.path)
    left = {path.name for path in folder.path.iterdir()}
    assert left == {path.relative_to(folder.path).parts[0] for path in others}
    assert all(path.read_text() == "mine" for path in others)
    assert [path.name for path in folder.checkpoints.glob("checkpoint1.pt*")] == []


@pytest.mark.parametrize("name", ["train.log", "train.rank1.log", "metrics.jsonl"])
def test_nothing_is_appended_to_what_lies_elsewhere(folder, tmp_path, name):
    (folder.path / "train.log").write_text("ours")
    (folder.path / "notes").symlink_to(tmp_path)
    own_files.refuse_others(folder.path)
    (folder.path / "train.log").unlink()
    for make in (os.mkfifo, os.mkdir, lambda path: path.symlink_to("nothing")):
        make(folder.path / name)
        with pytest.raises(UserError, match=f"{name}: not a regular file of the run's own"):
            own_files.refuse_others(folder.path)
        os.rmdir(folder.path / name) if (folder.path / name).is_dir() else (folder.path / name).unlink()


OCCUPIED = [
    "status.json",
    "checkpoints/checkpoint1.pt",
    "checkpoints/checkpoint_1_5.pt",
    "checkpoints/checkpoint1.pt.tmp",
    "checkpoints/checkpoint2.pt.sha256",
    "hypotheses/test.txt",
    "hypotheses/valid.epoch1.txt",
]


@pytest.mark.parametrize("make", [os.mkfifo, os.mkdir])
@pytest.mark.parametrize("name", OCCUPIED)
def test_a_name_that_training_writes_to_must_be_free(folder, name, make):
    (folder.path / "hypotheses").mkdir()
    make(folder.path / name)
    with pytest.raises(UserError, match=f"{name}: not a regular file of the run's own; remove it"):
        own_files.refuse_others(folder.path)


@pytest.mark.parametrize("name", ["checkpoints", "hypotheses", "wandb"])
def test_a_folder_that_training_writes_to_must_be_one(folder, name):
    folder.checkpoints.rmdir()
    (folder.path / name).touch()
    with pytest.raises(UserError, match=f"{name}: not a folder of the run's own; remove it"):
        own_files.refuse_others(folder.path)


@pytest.mark.parametrize("name", ["checkpoints", "hypotheses", "wandb"])
def test_nothing_is_written_or_deleted_through_a_link_to_a_folder(folder, tmp_path, name):
    (tmp_path / "mine").mkdir()
    folder.checkpoints.rmdir()
    (folder.path / name).symlink_to(tmp_path / "mine")
    with pytest.raises(UserError, match=f"{name}: not a folder of the run's own"):
        own_files.refuse_others(folder.path)


@pytest.mark.parametrize("name", ["checkpoint3.pt.tmp", "checkpoint_best.pt"])
def test_no_checkpoint_is_written_through_a_link(folder, tmp_path, name):
    (tmp_path / "mine").touch()
    (folder.checkpoints / name).symlink_to(tmp_path / "mine")
    with pytest.raises(UserError, match=f"{name}: not a regular file of the run's own"):
        own_files.refuse_others(folder.path)


def written(folder) -> dict[str, bytes]:
    """What lies in a run's folder, by its place."""
    return {
        str(path.relative_to(folder.path)): path.read_bytes()
        for path in sorted(folder.path.rglob("*"))
        if path.is_file() and not path.is_symlink()
    }


@pytest.fixture
def full(folder):
    """A folder with everything that a run writes."""
    folder.set_status("finished")
    folder.append({"kind": "end", "test_bleu": 1.0})
    folder.write_config(OmegaConf.create({}))
    folder.write_environment({})
    folder.log_of(1).touch()
    for name in ("valid.epoch1", "valid.epoch12", "test", "test.averaged"):
        folder.write_lines(f"hypotheses/{name}.txt", ["one"])
    for path in (folder.saved.of_epoch(1), folder.saved.within(2, 30)):
        make_whole(path)
        write_checksum(path)
    (folder.checkpoints / "checkpoint3.pt.tmp").touch()
    (folder.path / "wandb" / "offline-run-20260101_000000-0123abcd" / "files").mkdir(parents=True)
    (folder.path / "wandb" / "latest-run").symlink_to("offline-run-20260101_000000-0123abcd")
    (folder.path / "wandb" / "debug-internal.log").symlink_to("latest-run/logs")
    return folder


def test_clearing_forgets_everything(full):
    own_files.clear(full.path)
    assert list(full.path.iterdir()) == []


def test_what_is_set_aside_comes_back_in_place_of_what_was_written_since(full):
    (full.path / "notes.txt").write_text("mine")
    (full.path / "train.log").write_text("before\n")
    before = written(full)
    own_files.set_aside(full.path)
    assert sorted(path.name for path in full.path.iterdir()) == [own_files.EARLIER, "notes.txt"]
    full.checkpoints.mkdir()
    full.set_status("running")
    make_whole(full.saved.of_epoch(7))
    own_files.set_aside(full.path)  # again, as where a kill came before it began
    full.set_status("running")
    (full.path / "train.log").write_text("what failed\n")
    own_files.bring_back(full.path)
    assert written(full) == before | {"train.log": b"before\nwhat failed\n"}
    own_files.bring_back(full.path)
    assert written(full)["status.json"] == before["status.json"], "nothing was set aside"


@pytest.mark.parametrize("error", [OSError, KeyboardInterrupt])
@pytest.mark.parametrize("step", range(1, 8))
def test_nothing_is_lost_where_moving_ends_halfway(full, monkeypatch, error, step):
    """A full disk, or a kill, on the way there and on the way back."""
    before = written(full)
    for move in (own_files.set_aside, own_files.bring_back):
        with monkeypatch.context() as patch:
            patch.setattr(Path, "rename", failing_at(step, error))
            with suppress(error):
                move(full.path)
        own_files.bring_back(full.path)
        assert written(full) == before
        own_files.set_aside(full.path)
        assert "status.json" not in written(full)


def failing_at(step: int, error: type[BaseException]):
    """A renaming that ends with an error the n-th time."""
    rename, calls = Path.rename, count(1)

    def renamed(path, target):
        if next(calls) == step:
            raise error
        return rename(path, target)

    return renamed


def test_what_was_set_aside_can_be_forgotten(full, monkeypatch):
    own_files.set_aside(full.path)
    monkeypatch.setattr(shutil, "rmtree", lambda *_, **__: None)  # as where another program reads a file of it
    own_files.forget_earlier(full.path)
    assert not own_files.is_set_aside(full.path)
    own_files.bring_back(full.path)
    assert not [name for name in written(full) if not name.startswith(".gone.")]


def test_a_folder_of_checkpoints_that_is_a_link_is_set_aside_as_one(folder, tmp_path):
    (tmp_path / "elsewhere").mkdir()
    folder.checkpoints.rmdir()
    folder.checkpoints.symlink_to(tmp_path / "elsewhere")
    make_whole(folder.saved.of_epoch(1))
    own_files.set_aside(folder.path)
    assert not folder.checkpoints.exists()
    own_files.bring_back(folder.path)
    assert folder.checkpoints.is_symlink()
    assert folder.saved.of_epoch(1).exists()


@pytest.mark.parametrize("name", [own_files.EARLIER, own_files.MOVING])
@pytest.mark.parametrize("make", [lambda path: path.touch(), lambda path: path.symlink_to("/")])
def test_nothing_is_moved_through_what_is_not_the_runs_own(folder, make, name):
    folder.set_status("finished")
    make(folder.path / name)
    with pytest.raises(UserError, match=rf"{name}: not a folder of the run's own; remove it"):
        own_files.set_aside(folder.path)
    own_files.bring_back(folder.path)
    assert folder.status["state"] == "finished"
    assert os.path.lexists(folder.path / name)
