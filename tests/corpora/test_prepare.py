"""Preparing a corpus: complete or not there, and the same by any road."""

import shutil

import pytest
from helpers import TINY
from omegaconf.errors import OmegaConfBaseException

from lnexp.cli import describe
from lnexp.configuration import compose
from lnexp.corpora.prepare import prepare
from lnexp.corpora.text import SPLITS
from lnexp.errors import UserError


@pytest.fixture
def folder(tmp_path):
    """A corpus that somebody has tokenised."""
    source = tmp_path / "mine"
    source.mkdir()
    for split, count in zip(SPLITS, (60, 7, 5), strict=True):
        for language in ("de", "en"):
            lines = [f"{split} {language} neues-te unterirdischste {index % 9} ." for index in range(count)]
            (source / f"{split}.{language}").write_text("\n".join(lines) + "\n")
    return source


def tokenized(folder, *overrides):
    return compose(["data=tokenized", f"data.path={folder}", "data.subword.merges=10", *overrides]).data


def test_toy_is_prepared_once_and_its_manifest_is_true(tmp_path):
    data = compose(TINY).data
    corpus = prepare(data, tmp_path)
    assert corpus.manifest["pairs"] == {"train": 120, "valid": 20, "test": 20}
    assert len(corpus.lines("train", "de")) == 120
    before = (corpus.folder / "manifest.json").stat().st_mtime_ns
    assert prepare(data, tmp_path).folder == corpus.folder
    assert (corpus.folder / "manifest.json").stat().st_mtime_ns == before
    assert [path.name for path in tmp_path.iterdir()] == [corpus.folder.name], "nothing is left aside"


def test_a_tokenised_folder_gets_joint_subwords(folder, tmp_path):
    corpus = prepare(tokenized(folder), tmp_path / "data")
    assert corpus.manifest["pairs"] == {"train": 60, "valid": 7, "test": 5}
    assert "@@" in (corpus.bin / "dict.de.txt").read_text()
    assert corpus.lines("test", "en")[0] == "test en neues-te unterirdischste 0 .", "text is kept without subwords"
    assert (corpus.folder / "bpe.codes").read_text().startswith("#version")


def test_the_same_text_elsewhere_is_the_same_corpus_for_a_run(folder, tmp_path):
    from lnexp.runs.identity import identity

    moved = tmp_path / "moved"
    shutil.copytree(folder, moved)
    here, there = (compose(["data=tokenized", f"data.path={path}"]) for path in (folder, moved))
    assert identity(here) == identity(there)
    (moved / "train.de").write_text((moved / "train.de").read_text().replace("neues", "altes"))
    assert identity(here) != identity(compose(["data=tokenized", f"data.path={moved}"]))


def test_a_fault_in_the_text_leaves_nothing_behind(folder, tmp_path):
    (folder / "valid.en").write_text("one line\n")
    with pytest.raises(UserError, match=r"valid\.de has 7 lines, .*valid\.en has 1"):
        prepare(tokenized(folder), tmp_path / "data")
    assert list((tmp_path / "data").iterdir()) == []


def test_a_missing_folder_is_named(tmp_path):
    with pytest.raises(OmegaConfBaseException) as caught:
        prepare(tokenized(tmp_path / "nowhere"), tmp_path / "data")
    assert describe(caught.value) == f"{tmp_path / 'nowhere'}: no such folder"
