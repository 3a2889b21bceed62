"""What is wrong with parallel text is said with its file and line."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lnexp.corpora.text import read_lines, read_parallel, sha256_of_folder
from lnexp.errors import UserError


def files(tmp_path, source: bytes, target: bytes):
    paths = tmp_path / "train.de", tmp_path / "train.en"
    for path, content in zip(paths, (source, target), strict=True):
        path.write_bytes(content)
    return paths


def test_pairs_are_read(tmp_path):
    assert read_parallel(*files(tmp_path, "ä b\nc\n".encode(), b"x\r\ny")) == [("ä b", "x"), ("c", "y")]


@pytest.mark.parametrize(
    ("source", "target", "message"),
    [
        (b"a\nb\n", b"x\n", r"train\.de has 2 lines, .*train\.en has 1"),
        (b"", b"x\n", r"train\.de: empty"),
        (b"a\nb\n", b"", r"train\.en: empty"),
        (b"a\n\n", b"x\ny\n", r"train\.de:2: empty line"),
        (b"a\nb\n", b"x\n \n", r"train\.en:2: empty line"),
        (b"a\nb\xff\n", b"x\ny\n", r"train\.de:2: not UTF-8 \(byte 2"),
    ],
)
def test_faults_are_named(tmp_path, source, target, message):
    with pytest.raises(UserError, match=message):
        read_parallel(*files(tmp_path, source, target))


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(UserError, match=r"nowhere: no such file"):
        read_lines(tmp_path / "nowhere")


line = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\n\r"), min_size=1)


@given(lines=st.lists(line, min_size=1))
def test_any_text_is_read_back(tmp_path_factory, lines):
    path = tmp_path_factory.mktemp("text") / "file"
    path.write_text("".join(f"{text}\n" for text in lines), encoding="utf-8", newline="\n")
    assert read_lines(path) == lines


def test_a_folders_checksum_is_of_its_contents_not_its_place(tmp_path):
    for name in ("one", "two", "other"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "train.de").write_text("b" if name == "other" else "a")
    one, two, other = (sha256_of_folder(tmp_path / name, ["train.de"]) for name in ("one", "two", "other"))
    assert one == two != other
    with pytest.raises(UserError, match=r"no valid\.de, test\.de in it"):
        sha256_of_folder(tmp_path / "one", ["train.de", "valid.de", "test.de"])
