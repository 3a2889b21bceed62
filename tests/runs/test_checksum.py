"""A checkpoint's digest beside it."""

import subprocess
from zipfile import ZipFile

import pytest
from helpers import cut_short, make_whole

from lnexp.runs.checksum import delete, is_whole, write_checksum


@pytest.fixture
def checkpoint(tmp_path):
    path = tmp_path / "checkpoint1.pt"
    make_whole(path)
    write_checksum(path)
    return path


def test_what_was_saved_is_whole_and_sha256sum_says_so_too(checkpoint):
    assert is_whole(checkpoint)
    checked = subprocess.run(["sha256sum", "--check", f"{checkpoint.name}.sha256"], cwd=checkpoint.parent, check=False)
    assert checked.returncode == 0


@pytest.mark.parametrize("damage", ["cut", "flip", "other", "empty"])
def test_what_was_damaged_is_not(checkpoint, damage):
    content = checkpoint.read_bytes()
    if damage == "cut":
        cut_short(checkpoint)
    elif damage == "flip":
        checkpoint.write_bytes(content.replace(b"nothing", b"nothong"))
    elif damage == "other":
        with ZipFile(checkpoint, "w") as archive:
            archive.writestr("content", "another one's")
    else:
        checkpoint.write_bytes(b"")
    assert not is_whole(checkpoint)


def test_one_without_a_digest_need_only_be_an_archive(checkpoint):
    (checkpoint.parent / "checkpoint1.pt.sha256").unlink()
    assert is_whole(checkpoint)
    cut_short(checkpoint)
    assert not is_whole(checkpoint)


def test_one_that_follows_half_of_another_is_not_whole_even_if_sealed(checkpoint):
    content = checkpoint.read_bytes()
    checkpoint.write_bytes(content[:30] + content)
    write_checksum(checkpoint)
    assert not is_whole(checkpoint)


def test_a_digest_that_says_nothing_is_none(checkpoint):
    (checkpoint.parent / "checkpoint1.pt.sha256").write_bytes(b"\xff\n")
    assert not is_whole(checkpoint)


def test_dropping_leaves_nothing(checkpoint):
    delete(checkpoint)
    delete(checkpoint)
    assert list(checkpoint.parent.iterdir()) == []
