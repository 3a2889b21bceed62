"""The English sides of parallel text are one corpus, whose train has no sentence that pairs are tested on."""

import gzip
import io
import shutil
import tarfile

import pytest
from helpers import run_script

from lnexp.configuration import check, compose
from lnexp.corpora.labelled_pairs import prepare_pairs, read_pairs
from lnexp.corpora.prepare import prepare
from lnexp.corpora.text import SPLITS
from lnexp.errors import UserError

IWSLT, WMT, TATOEBA = (f"{name}.tar.xz" for name in ("iwslt14-tokenized-subset", "wmt14-mini", "tatoeba-de-en"))
#: A sentence of the parallel text that all files of wmt14-mini have, too.
SHARED = "a3 b3 delta ."


def archive(path, files):
    with tarfile.open(path, "w:xz") as tar:
        for name, text in files.items():
            member = tarfile.TarInfo(f"{path.name.partition('.')[0]}/{name}")
            member.size = len(text.encode())
            tar.addfile(member, io.BytesIO(text.encode()))


@pytest.fixture(scope="module")
def published(tmp_path_factory):
    """A folder with archives as they are published, and little text in them."""
    folder = tmp_path_factory.mktemp("published")
    archive(folder / IWSLT, {f"{split}.en": f"that &apos;s {split} .\n" for split in SPLITS})
    news = ["europarl20k", "news-test2008", *(f"newstest20{year:02d}" for year in range(9, 15))]
    archive(folder / WMT, {f"{name}.en": f"It's {name}.\n" + "A3 B3 delta.\n" for name in news})
    captions = folder / "mirror" / "multi30k" / "data" / "task1" / "raw"
    captions.mkdir(parents=True)
    for name in ("train", "val", "test_2016_flickr"):
        with gzip.open(captions / f"{name}.en.gz", "wt") as file:
            file.write(f"A dog in {name}.\n")
    both = [
        (f"deutsch {n}", f"A{n} B{n + other} {word}.") for n in range(40) for other, word in ((1, "C"), (0, "delta"))
    ]
    archive(
        folder / TATOEBA,
        {"all.de": "".join(f"{de}\n" for de, _ in both), "all.en": "".join(f"{en}\n" for _, en in both)},
    )
    return folder


def data_of(folder, *overrides):
    cfg = compose(["data=bert_text", f"data.path={folder}", "subword=none", *overrides])
    check(cfg)
    return cfg.data


def of_pairs(folder, *overrides):
    return data_of(folder, "task=sentence_pairs", "pairs=tatoeba", "start.epoch=0", *overrides)


@pytest.fixture(scope="module")
def text(published, tmp_path_factory):
    return prepare(data_of(published, "task=masked_lm"), tmp_path_factory.mktemp("data"))


def sentences(corpus, split):
    return [line for line in corpus.lines(split, "en") if line]


def test_what_is_tokenised_stays_so_and_the_rest_becomes_so(text):
    train = sentences(text, "train")
    assert train[:2] == ["that &apos;s train .", "it &apos;s europarl20k ."]
    assert "a dog in train ." in train
    assert "it &apos;s newstest2013 ." in sentences(text, "valid")
    assert "it &apos;s newstest2014 ." in sentences(text, "test")


def test_train_has_no_sentence_of_valid_or_test(published, text, tmp_path):
    held_out = {*sentences(text, "valid"), *sentences(text, "test")}
    assert SHARED in held_out, "valid has newstest2013"
    assert not held_out & set(sentences(text, "train"))
    left_out = text.manifest["steps"]["train"]["left_out"]["in valid or test"]
    assert left_out >= 6, "it is in six files of train"
    assert text.manifest["steps"]["train"]["read"] == len(sentences(text, "train")) + left_out


def test_train_has_no_sentence_of_pairs_that_are_tested(published, tmp_path):
    corpus = prepare_pairs(of_pairs(published), tmp_path)
    (text,) = (folder for folder in tmp_path.glob("bert_text-*/text/train.en"))
    train = set(text.read_text().splitlines())
    held_out = [pair for split in ("valid", "test") for pair in read_pairs(corpus.folder / "text" / f"{split}.tsv")]
    assert held_out
    assert not any(sentence in train for pair in held_out for sentence in pair[1:])
    learned = {sentence for pair in read_pairs(corpus.folder / "text" / "train.tsv") for sentence in pair[1:]}
    assert learned - train <= {SHARED}
    assert corpus.manifest["pre_trained_on"]["in_train"] == 0
    others = prepare_pairs(of_pairs(published, "data.pairs.seed=1"), tmp_path)
    assert others.manifest["pre_trained_on"]["in_train"] > 0, "pairs that are divided otherwise"


def test_one_command_prepares_what_is_published(published, tmp_path):
    options = ["data=bert_text", f"data.path={published}", "subword=none", f"data_dir={tmp_path}"]
    done = run_script("prepare_data", "task=sentence_pairs", "start.epoch=0", *options)
    assert done.returncode == 0, done.stderr
    assert "labelled pairs (tatoeba), " in done.stdout
    assert "0 of " in done.stdout
    assert len(list(tmp_path.glob("bert_text-*"))) == 2, "text and pairs"


def test_documents_are_counted_apart_from_sentences(text):
    lines = text.lines("train", "en")
    assert lines.count("") == 9, "after each of eight texts, and after the parallel one"
    assert text.manifest["pairs"]["train"] == len(lines) - 9


def test_other_text_is_another_corpus(published, tmp_path):
    before = data_of(published, "task=masked_lm").text.sha256
    folder = tmp_path / "published"
    shutil.copytree(published, folder)
    assert data_of(folder, "task=masked_lm").text.sha256 == before
    archive(folder / TATOEBA, {"all.de": "eins\n", "all.en": "one\n"})
    assert data_of(folder, "task=masked_lm").text.sha256 != before


def test_a_split_without_a_sentence_is_refused(tmp_path):
    archive(tmp_path / WMT, {"europarl20k.en": "It's europarl.\n"})
    archive(tmp_path / TATOEBA, {"all.de": "ein Satz\n", "all.en": "A sentence.\n"})
    splits = "data.text.splits={train: ['wmt14-mini.tar.xz!europarl20k.en'], valid: [], test: []}"
    with pytest.raises(UserError, match="the corpus has no sentence in valid"):
        prepare(data_of(tmp_path, "task=masked_lm", splits, "data.text.by_pivot.hold_out=3"), tmp_path / "data")
