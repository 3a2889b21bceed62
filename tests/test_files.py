"""Files are written completely or not at all; only regular ones are read; locks end with their holders."""

import errno
import os
import subprocess
import sys
import threading
import time

import pytest

from lnexp import files
from lnexp.errors import UserError
from lnexp.files import append_synced, locked, read_regular, write_whole
from lnexp.result_tables import read_table
from lnexp.runs.folder import RunFolder


def test_a_file_is_replaced_as_a_whole(tmp_path):
    write_whole(tmp_path / "file", "one")
    write_whole(tmp_path / "file", "two")
    assert (tmp_path / "file").read_text() == "two"
    assert len(list(tmp_path.iterdir())) == 1


def test_what_is_appended_is_on_the_disk_before_anything_else_happens(tmp_path, monkeypatch):
    path, synced = tmp_path / "file", []
    monkeypatch.setattr(files.os, "fsync", lambda number: synced.append(files.os.readlink(f"/proc/self/fd/{number}")))
    append_synced(path, "one\n")
    assert synced == [str(path), str(tmp_path)], "and the name of the new file"
    append_synced(path, "two\n")
    assert synced[2:] == [str(path)]
    assert path.read_text() == "one\ntwo\n"


@pytest.mark.parametrize("write", [write_whole, append_synced])
def test_a_full_disk_names_the_file(tmp_path, monkeypatch, write):
    def full(_: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(files.os, "fsync", full)
    with pytest.raises(OSError, match="No space left on device") as caught:
        write(tmp_path / "file", "one")
    assert caught.value.filename == str(tmp_path / "file")


def test_a_lock_is_held_by_one_and_leaves_nothing(tmp_path):
    with locked(tmp_path / "deep" / "lock"):
        with pytest.raises(BlockingIOError), locked(tmp_path / "deep" / "lock", wait=False):
            raise AssertionError("two hold one lock")
        assert (tmp_path / "deep" / "lock").exists()
    assert list((tmp_path / "deep").iterdir()) == []


def test_a_lock_is_no_way_to_a_file_of_others(tmp_path):
    (tmp_path / "precious").write_text("content")
    makers = {"link": lambda path: path.symlink_to("precious"), "pipe": os.mkfifo, "folder": os.mkdir}
    for name, make in makers.items():
        make(tmp_path / name)
        with pytest.raises(UserError, match=f"{name}: not a regular file"), locked(tmp_path / name):
            raise AssertionError("it is held")
    with locked(tmp_path / "precious"):
        assert (tmp_path / "precious").read_text() == "content"


def test_who_waited_for_a_lock_that_is_gone_holds_the_new_one(tmp_path):
    got, release = threading.Event(), threading.Event()

    def wait_for_it():
        with locked(tmp_path / "lock"):
            got.set()
            release.wait(10)

    with locked(tmp_path / "lock"):
        waiting = threading.Thread(target=wait_for_it)
        waiting.start()
        time.sleep(0.2)
    assert got.wait(10)
    with pytest.raises(BlockingIOError), locked(tmp_path / "lock", wait=False):
        raise AssertionError("two hold one lock")
    release.set()
    waiting.join()


def test_many_take_turns(tmp_path):
    inside, most = [], []

    def work():
        for _ in range(50):
            with locked(tmp_path / "lock"):
                inside.append(1)
                most.append(len(inside))
                inside.pop()

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert most == [1] * 400


def test_a_lock_falls_with_its_holder(tmp_path):
    code = "import sys, time\nfrom pathlib import Path\nfrom lnexp.files import locked\n"
    code += "with locked(Path(sys.argv[1])):\n    print('held', flush=True)\n    time.sleep(60)\n"
    command = [sys.executable, "-c", code, str(tmp_path / "lock")]
    holder = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert holder.stdout.readline() == "held\n"
    holder.kill()
    holder.wait()
    with locked(tmp_path / "lock", wait=False):
        pass


def fifo(tmp_path):
    os.mkfifo(tmp_path / "file")
    return tmp_path / "file"


def device(tmp_path):
    (tmp_path / "file").symlink_to("/dev/zero")
    return tmp_path / "file"


def folder(tmp_path):
    (tmp_path / "file").mkdir()
    return tmp_path / "file"


@pytest.mark.parametrize("make", [fifo, device, folder])
def test_what_is_no_regular_file_is_refused_and_not_waited_for(make, tmp_path):
    with pytest.raises(UserError, match="file: not a regular file"):
        read_regular(make(tmp_path))


def test_a_file_that_is_too_long_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr("lnexp.files.MOST_BYTES", 3)
    path = tmp_path / "file"
    path.write_text("abc")
    read_regular(path)
    path.write_text("abcd")
    with pytest.raises(UserError, match="more than 3 bytes"):
        read_regular(path)


def test_a_link_to_a_file_is_read(tmp_path):
    (tmp_path / "text").write_text("später\n", encoding="utf-8")
    (tmp_path / "link").symlink_to(tmp_path / "text")
    assert read_regular(tmp_path / "link") == "später\n"


@pytest.mark.parametrize("name", ["metrics.jsonl", "status.json", "environment.json", "config.yaml"])
def test_a_run_with_a_pipe_for_a_file_is_malformed_and_hangs_nothing(name, tmp_path):
    os.mkfifo(tmp_path / name)
    run = RunFolder(tmp_path)
    with pytest.raises(UserError, match="not a regular file"):
        _ = run.epochs(), run.status, run.environment, run.config


def test_a_table_that_is_a_pipe_is_refused(tmp_path):
    with pytest.raises(UserError, match="not a regular file"):
        read_table(fifo(tmp_path))
