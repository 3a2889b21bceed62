"""Binarised data equal those of ``fairseq-preprocess`` byte for byte."""

import random

import pytest
from fairseq import options
from fairseq_cli import preprocess

from lnexp.corpora.binarise import TokenisedCorpus, binarise
from lnexp.corpora.context import PreparationContext
from lnexp.corpora.subwords.none import Whole
from lnexp.corpora.subwords.subword_nmt import SubwordNmt
from lnexp.corpora.text import SPLITS


def put(folder, vocabulary, seed=1):
    """A corpus whose valid and test have words that train does not, and an empty line."""
    choose = random.Random(seed)
    (folder / "text").mkdir(parents=True)
    for split in SPLITS:
        for language in ("de", "en"):
            words = vocabulary if split == "train" else [*vocabulary, "unknown", "</s>"]
            lines = [" ".join(choose.choices(words, k=choose.randint(1, 9))) for _ in range(300)] + ["", "Ende"]
            (folder / "text" / f"{split}.{language}").write_text("".join(f"{line}\n" for line in lines))


@pytest.mark.parametrize("joined", [True, False])
@pytest.mark.parametrize("subwords", [Whole(), SubwordNmt(size=30)])
@pytest.mark.parametrize("cores", [1, 2])
def test_equal_to_fairseq_preprocess(tmp_path, joined, subwords, cores, monkeypatch):
    monkeypatch.setattr("lnexp.corpora.binarise.LINES", 40)
    put(tmp_path / "ours", [*"abcdefg", "haus", "häuser", "<unk>", "<pad>", "1 2", "z.B."])
    corpus = TokenisedCorpus(tmp_path / "ours", ("de", "en"), subwords)
    with PreparationContext(tmp_path, cores=cores) as context:
        counts = binarise(corpus, joined, context)
    arguments = ["--source-lang", "de", "--target-lang", "en", "--destdir", str(tmp_path / "theirs")]
    for split, option in zip(SPLITS, ("--trainpref", "--validpref", "--testpref"), strict=True):
        arguments += [option, str(tmp_path / "ours" / "subwords" / split)]
    arguments += ["--joined-dictionary"] if joined else []
    preprocess.main(options.get_preprocessing_parser().parse_args(arguments))
    theirs = {path.name: path.read_bytes() for path in (tmp_path / "theirs").iterdir() if path.suffix != ".log"}
    ours = {path.name: path.read_bytes() for path in (tmp_path / "ours" / "bin").iterdir()}
    assert len(ours) == 14
    assert ours == theirs
    assert counts["train"]["de"]["unknown"] > 0, "<unk> is in the text"
    assert counts["train"]["de"]["words"] == len((tmp_path / "ours/text/train.de").read_text().split())


def test_a_full_cache_is_emptied_and_nothing_changes(tmp_path, monkeypatch):
    results = []
    for memory in (100_000, 3):
        monkeypatch.setattr("lnexp.corpora.segmentation.CACHE_SIZE", memory)
        monkeypatch.setattr("lnexp.corpora.binarise.LINES", 40)
        put(tmp_path / str(memory), [*"abcdefg", "haus"])
        corpus = TokenisedCorpus(tmp_path / str(memory), ("de", "en"), SubwordNmt(size=30))
        with PreparationContext(tmp_path, cores=1) as context:
            binarise(corpus, False, context)
        results.append({path.name: path.read_bytes() for path in (tmp_path / str(memory) / "bin").iterdir()})
    assert results[0] == results[1]


def test_a_vocabulary_too_large_for_short_numbers(tmp_path):
    put(tmp_path, ["a"])
    with (tmp_path / "text" / "train.de").open("a") as file:
        file.write("".join(f"w{number}\n" for number in range(66_000)))
    with (tmp_path / "text" / "train.en").open("a") as file:
        file.write("x\n" * 66_000)
    corpus = TokenisedCorpus(tmp_path, ("de", "en"), Whole())
    with PreparationContext(tmp_path, cores=1) as context:
        binarise(corpus, False, context)
    from fairseq.data import Dictionary, data_utils

    dictionary = Dictionary.load(str(tmp_path / "bin" / "dict.de.txt"))
    dataset = data_utils.load_indexed_dataset(str(tmp_path / "bin" / "train.de-en.de"), dictionary)
    assert dictionary.string(dataset[len(dataset) - 1]) == "w65999"
