"""Hashes of settings, and digests of files."""

import pytest

from lnexp.errors import UserError
from lnexp.hashing import sha256_of_files, short_hash


def test_a_hash_is_of_the_meaning_not_of_the_spelling():
    assert short_hash({"a": 1, "b": [1.0, 2]}) == short_hash({"b": (1, 2.0), "a": 1.0})
    assert short_hash({"a": 1}) != short_hash({"a": 2})


def test_a_folders_digest_is_of_its_contents_not_its_place(tmp_path):
    for name in ("one", "two", "other"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "train.de").write_text("b" if name == "other" else "a")
    one, two, other = (sha256_of_files(str(tmp_path / name), ["train.de"]) for name in ("one", "two", "other"))
    assert one == two != other
    with pytest.raises(UserError, match=r"one: no valid\.de, test\.de in it"):
        sha256_of_files(str(tmp_path / "one"), ["train.de", "valid.de", "test.de"])
    with pytest.raises(UserError, match=r"nowhere: no such folder"):
        sha256_of_files(str(tmp_path / "nowhere"), ["train.de"])


def test_an_archives_digest_is_the_archives(tmp_path):
    (tmp_path / "archive").write_text("a")
    before = sha256_of_files(str(tmp_path / "archive"), ["train.de"])
    (tmp_path / "archive").write_text("other")
    assert sha256_of_files(str(tmp_path / "archive"), ["train.de"]) != before
