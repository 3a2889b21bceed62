"""Checksums of a user's text are of the files that its config names."""

import pytest
from omegaconf import OmegaConf

from lnexp.corpora.checksums import corpus_sha256
from lnexp.errors import UserError


@pytest.fixture
def folder(tmp_path):
    for name in ("train.txt", "valid.txt"):
        (tmp_path / name).write_text(name)
    return tmp_path


def checksum(folder, *files: str) -> str:
    return corpus_sha256(_parent_=OmegaConf.create({"root": str(folder), "splits": {"train": list(files)}}))


def test_an_exclamation_mark_in_brackets_is_no_member_of_an_archive(folder):
    one = checksum(folder, "[!v]*.txt")
    assert one == checksum(folder, "train.txt") != checksum(folder, "*.txt")
    (folder / "valid.txt").write_text("other")
    assert checksum(folder, "[!v]*.txt") == one


def test_members_count_by_their_archive(folder):
    assert checksum(folder, "train.txt!a", "train.txt!b") == checksum(folder, "train.txt")
    with pytest.raises(UserError, match=r"no\.zip"):
        checksum(folder, "no.zip!a")
