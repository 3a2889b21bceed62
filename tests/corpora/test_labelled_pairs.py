"""Labelled pairs are what they are labelled as, are in one split each, and have the corpus' dictionary."""

import itertools
import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lnexp.configuration import check, compose
from lnexp.corpora.labelled_pairs import LabelledPair, pivot, prepare_pairs, read_pairs, write_pairs
from lnexp.corpora.prepare import prepare
from lnexp.errors import UserError

TASK = ["task=sentence_pairs", "start.epoch=0"]
SIZE = "scale.toy={train_pairs: 60, valid_pairs: 10, test_pairs: 12}"


def data_of(*overrides):
    cfg = compose([*TASK, *overrides])
    check(cfg)
    return cfg.data


def pairs_of(corpus) -> dict[str, list]:
    return {split: read_pairs(corpus.folder / "text" / f"{split}.tsv") for split in ("train", "valid", "test")}


def test_pairs_of_the_grammar_lie_beside_its_text(tmp_path):
    data = data_of("data=bert_toy", SIZE)
    corpus = prepare_pairs(data, tmp_path)
    found = pairs_of(corpus)
    assert {split: len(pairs) for split, pairs in found.items()} == {"train": 60, "valid": 10, "test": 12}
    assert corpus.manifest["pairs"] == {"train": 60, "valid": 10, "test": 12}
    assert corpus.manifest["labels"]["train"] == {"0": 30, "1": 30}
    text = prepare(compose(["task=masked_lm", "data=bert_toy", SIZE]).data, tmp_path)
    assert (corpus.bin / "dict.en.txt").read_bytes() == (text.bin / "dict.en.txt").read_bytes()
    assert len(list(tmp_path.glob("bert_toy-*"))) == 2, "the text is the one that models are pre-trained on"
    again = prepare_pairs(data, tmp_path)
    assert again.folder == corpus.folder


def test_a_tabulator_in_a_sentence_is_a_space_in_its_file(tmp_path):
    write_pairs(tmp_path, "train", [LabelledPair(1, "a\tb", "c"), LabelledPair(0, "d", "e\t\tf")])
    assert read_pairs(tmp_path / "train.tsv") == [LabelledPair(1, "a b", "c"), LabelledPair(0, "d", "e  f")]


def test_more_other_words_than_sentences_have_are_refused(tmp_path):
    """They would be looked for without an end."""
    assert prepare_pairs(data_of("data=bert_toy", SIZE, "data.pairs.other_words=6"), tmp_path).folder.is_dir()
    with pytest.raises(UserError, match=r"data\.pairs\.other_words=7: must be"):
        prepare_pairs(data_of("data=bert_toy", SIZE, "data.pairs.other_words=7"), tmp_path)


@pytest.fixture
def glue(tmp_path):
    folder = tmp_path / "MRPC"
    folder.mkdir()
    head = "Quality\t#1 ID\t#2 ID\t#1 String\t#2 String\n"
    for split, count in (("train", 6), ("dev", 4)):
        rows = [f"{n % 2}\t{n}\t{n}\tThe \"dog number {n} sleeps.\tIt isn't cat {n}.\n" for n in range(count)]
        (folder / f"{split}.tsv").write_text(head + "".join(rows))
    for split in ("train", "valid", "test"):
        (tmp_path / f"{split}.en").write_text("The dog sleeps.\nIt waits.\n")
    return folder


def of_glue(folder, *overrides):
    words = [f"data.path={folder.parent}", "subword=none", "pairs=mrpc", f"data.pairs.path={folder}", *overrides]
    return data_of("data=bert_plain", *words)


def test_pairs_of_glue_are_written_as_the_corpus_is(glue, tmp_path):
    corpus = prepare_pairs(of_glue(glue), tmp_path / "data")
    found = pairs_of(corpus)
    assert sum(pair.label for pair in found["train"]) == 3
    assert found["train"][0] == (0, "the &quot; dog number 0 sleeps .", "it isn &apos;t cat 0 .")
    assert [pair.label for pair in found["valid"]] == [0, 1, 0, 1]
    assert found["test"] == found["valid"], "GLUE's own test has no labels"
    before = corpus.folder
    (glue / "dev.tsv").write_text((glue / "dev.tsv").read_text().replace("cat", "bird"))
    assert prepare_pairs(of_glue(glue), tmp_path / "data").folder != before


@pytest.mark.parametrize(
    ("row", "said"),
    [
        ("2\t0\t0\ta\tb\n", r"dev.tsv:6: label '2', not one of 0, 1"),
        ("1\t0\ta\tb\n", r"dev.tsv:6: 4 values, not 5"),
        ("1\t0\t0\t \tb\n", r"dev.tsv:6: empty line"),
        ("1\t0\t0\ta\udcffb\tb\n", r"dev.tsv:6: not UTF-8"),
        ("1\t0\t0\ta\rb\tb\n", r"dev.tsv:6: control character U\+000D"),
        (f"1\t0\t0\t{'x' * 200_000}\tb\n", r"dev.tsv:6: 200,000 characters in a line"),
    ],
)
def test_a_row_of_glue_that_is_not_as_stated_is_named(glue, tmp_path, row, said):
    with (glue / "dev.tsv").open("a", errors="surrogateescape", newline="\n") as file:
        file.write(row)
    with pytest.raises(UserError, match=said):
        prepare_pairs(of_glue(glue), tmp_path / "data")


def test_a_missing_column_is_named(glue, tmp_path):
    (glue / "train.tsv").write_text("label\tsentence1\n")
    with pytest.raises(UserError, match="no column 'Quality'"):
        prepare_pairs(of_glue(glue), tmp_path / "data")


SENTENCES = st.integers(0, 12).map(lambda n: f"word{n} word{n // 2}")


@settings(max_examples=40, derandomize=True)
@given(st.lists(st.tuples(SENTENCES, SENTENCES), max_size=30))
def test_no_sentence_is_in_two_groups(translations):
    groups = pivot.groups_of(translations)
    for side in (
        [pivots for group in groups for pivots in group],
        [sentence for group in groups for sentence in {s for of_one in group.values() for s in of_one}],
    ):
        assert len(side) == len(set(side))
    assert {pair for group in groups for p, of_one in group.items() for pair in ((p, s) for s in of_one)} == set(
        translations
    )


def translations():
    """Thirty German sentences with two English ones each, which share a word with the next."""
    for n in range(30):
        yield f"deutsch {n}", f"alpha{n} beta{n + 1} gamma"
        yield f"deutsch {n}", f"alpha{n} beta{n} delta"


def test_pairs_by_pivot_are_balanced_and_overlap_alike(tmp_path):
    (tmp_path / "all.de").write_text("".join(f"{german}\n" for german, _ in translations()))
    (tmp_path / "all.en").write_text("".join(f"{english}\n" for _, english in translations()))
    out = tmp_path / "out"
    out.mkdir()
    options = {"files": {"source": "all.de", "target": "all.en"}, "seed": 0, "hold_out": 5}
    english = {"language": "en", "tokenizer": "none", "lowercase": False}
    pivot.write(out, None, path=str(tmp_path), **options, **english)
    of_german = {english: german for german, english in translations()}
    seen: list[set[str]] = []
    for split in ("train", "valid", "test"):
        pairs = read_pairs(out / f"{split}.tsv")
        assert sum(pair.label for pair in pairs) * 2 == len(pairs)
        for label, first, second in pairs:
            assert (of_german[first] == of_german[second]) == bool(label)
        seen.append({of_german[sentence] for pair in pairs for sentence in pair[1:]})
    assert len(seen[0]) > 10
    assert not any(one & other for one, other in itertools.combinations(seen, 2)), "a group is in one split"


@pytest.mark.parametrize(
    ("english", "said"),
    [
        (b"one\n", r"all\.en has 1 lines, fewer than the other file"),
        (b"one\n\xff\n", r"all\.en:2: not UTF-8"),
        (b"one\ntwo\nthree\n", r"all\.de has 2 lines, fewer than the other file"),
    ],
)
def test_text_that_is_not_parallel_or_no_text_makes_no_pairs(tmp_path, english, said):
    (tmp_path / "all.de").write_text("eins\nzwei\n")
    (tmp_path / "all.en").write_bytes(english)
    with pytest.raises(UserError, match=said):
        list(pivot._translations(str(tmp_path), {"source": "all.de", "target": "all.en"}))


def test_sentences_with_the_same_words_are_no_paraphrase():
    rng = random.Random(0)
    assert pivot._paraphrase({"x": ["Go home!", "go home."]}, rng) is None
    assert set(pivot._paraphrase({"x": ["Go home!", "go home.", "Leave."]}, rng)) & {"Leave."}


@pytest.mark.slow
def test_real_pairs_by_pivot_are_hard(real_text, tmp_path):
    """Overlap of words alone tells paraphrases from others in less than two thirds, see docs/corpora.md."""
    options = {"files": {"source": "all.de", "target": "all.en"}, "seed": 0, "hold_out": 40}
    groups = pivot.groups_of(pivot._translations(str(real_text / "tatoeba-de-en.tar.xz"), options["files"]))
    pairs = pivot._pairs_of(groups[: len(groups) // 20], random.Random(1))
    overlaps = sorted((pivot.overlap(*map(pivot.words_of, pair[1:])), pair.label) for pair in pairs)
    right = most = sum(label for _, label in overlaps)
    for _, label in overlaps:
        right += -1 if label else 1
        most = max(most, right)
    assert len(pairs) > 100
    assert most / len(pairs) < 0.67
