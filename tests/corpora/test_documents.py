"""Documents of one language are split, tokenised, lower-cased, and prepared as a corpus of one language."""

import pytest
from omegaconf.errors import InterpolationResolutionError

from lnexp.commands.prepare_data import report
from lnexp.configuration import compose
from lnexp.errors import UserError
from lnexp.tasks import load_task


@pytest.fixture
def folder(tmp_path):
    here = tmp_path / "books"
    (here / "wiki").mkdir(parents=True)
    documents = [f"The dog number {n} sleeps.\nIt doesn't wait.\n\n" for n in range(12)]
    (here / "wiki" / "a.txt").write_text("".join(documents[:7]))
    (here / "b.txt").write_text("".join(documents[7:]))
    return here


def prepared_of(folder, tmp_path, *overrides):
    words = ["task=masked_lm", f"data.path={folder}", "subword=none", *overrides]
    cfg = compose(["data=wikipedia_books", "data.text.hold_out=5", *words])
    return load_task("masked_lm").prepare(cfg.data, tmp_path / "data")


def test_documents_are_split_whole(folder, tmp_path):
    corpus = prepared_of(folder, tmp_path)
    assert corpus.manifest["documents"] == {"train": 7, "valid": 2, "test": 3}
    assert corpus.manifest["sources"]["train"] == ["b.txt", "wiki/a.txt"]
    assert corpus.lines("valid", "en")[:3] == ["the dog number 11 sleeps .", "it doesn &apos;t wait .", ""]
    numbers = {
        split: [line.split()[3] for line in corpus.lines(split, "en") if "number" in line]
        for split in ("train", "valid", "test")
    }
    assert sorted((number for of in numbers.values() for number in of), key=int) == [str(n) for n in range(12)], (
        "each is in one split"
    )
    assert (corpus.bin / "train.en.en.idx").is_file()


def test_other_text_is_another_corpus(folder, tmp_path):
    before = prepared_of(folder, tmp_path).folder
    (folder / "b.txt").write_text((folder / "b.txt").read_text() + "One more.\n")
    assert prepared_of(folder, tmp_path).folder != before


def test_bad_lines_are_left_out_of_their_documents_and_counted(folder, tmp_path):
    (folder / "b.txt").write_text("One\u200e.\nTwo.\nThree.\n\n\x07\n\nFour.\n")
    corpus = prepared_of(folder, tmp_path)
    assert corpus.lines("test", "en")[:3] == ["two .", "three .", ""], "the first document of five"
    assert corpus.lines("train", "en")[:2] == ["four .", ""]
    left_out = {"bidirectional mark U+200E": 1, "control character U+0007": 1}
    assert corpus.manifest["steps"]["train"] == {"read": 3 + 2 + 14, "left_out": left_out}
    assert report(corpus.manifest, load_task("masked_lm"))[0] == (
        "train: 19 sentences read; left out: 1 bidirectional mark U+200E, 1 control character U+0007"
    )


def test_what_cannot_be_read_is_named(folder, tmp_path):
    for line, problem in (
        (b"\xff", "not UTF-8"),
        (b"x" * 10_001, "10,001 characters in a line"),
        (b"\x07", "control character U\\+0007"),
    ):
        (folder / "b.txt").write_bytes(b"fine\n" + line + b"\n")
        bad_lines = "refuse" if "control" in problem else "drop"
        with pytest.raises(UserError, match=rf"b\.txt:2: {problem}"):
            prepared_of(folder, tmp_path, f"data.text.bad_lines={bad_lines}")
    with pytest.raises(UserError, match=r"data.text.bad_lines=keep: must be one of refuse, drop"):
        prepared_of(folder, tmp_path, "data.text.bad_lines=keep")
    for path in folder.rglob("*.txt"):
        path.unlink()
    with pytest.raises(InterpolationResolutionError, match=r"no file \*\*/\*\.txt"):
        prepared_of(folder, tmp_path)
