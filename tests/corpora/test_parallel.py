"""Parallel text stays aligned, and every pair is kept or counted."""

import gzip
import tarfile

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lnexp.commands.prepare_data import report as told
from lnexp.corpora.context import PreparationContext
from lnexp.corpora.parallel import write
from lnexp.corpora.text import SPLITS, read_lines
from lnexp.errors import UserError
from lnexp.hashing import file_digest
from lnexp.tasks import load_task

OPTIONS = {
    "source_lang": "de",
    "target_lang": "en",
    "splits": {split: [{"source": f"{split}.de", "target": f"{split}.en"}] for split in SPLITS},
    "downloads": None,
    "hold_out": None,
    "tokenizer": "moses",
    "lowercase": False,
    "bad_lines": "refuse",
    "pair_filter": None,
    "drop_duplicates": False,
    "known_as": None,
    "part_of": None,
}
NUMBERED = {
    split: [(f"Satz {number}, {split}.", f"Sentence {number}, {split}.") for number in (1, 2, 3)] for split in SPLITS
}


def put(folder, splits=NUMBERED, encode=str.encode):
    folder.mkdir(exist_ok=True)
    for split, pairs in splits.items():
        for language, lines in zip(("de", "en"), zip(*pairs, strict=True), strict=True):
            (folder / f"{split}.{language}").write_bytes(b"".join(encode(f"{line}\n") for line in lines))
    return folder


def run(tmp_path, root, cores=1, **options):
    out = tmp_path / "out"
    out.mkdir(exist_ok=True)
    with PreparationContext(tmp_path, cores=cores) as context:
        report = write(out, context, **OPTIONS | {"root": str(root)} | options)
    text = {
        split: list(zip(*(read_lines(out / f"{split}.{lang}") for lang in ("de", "en")), strict=True))
        for split in SPLITS
    }
    return text, report


def test_a_folder_is_tokenised(tmp_path):
    text, report = run(tmp_path, put(tmp_path / "in"), lowercase=True)
    assert text["test"][0] == ("satz 1 , test .", "sentence 1 , test .")
    assert len(report["sources"]) == 6
    assert report["sources"]["train.de"] == {
        "address": str(tmp_path / "in" / "train.de"),
        "bytes": len("Satz 1, train.\n") * 3,
        "sha256": file_digest(tmp_path / "in" / "train.de"),
    }
    assert report == {
        "sources": report["sources"],
        "steps": {split: {"read": 3, "left_out": {}, "kept": 3} for split in SPLITS},
        "mended": {},
        "part_of": None,
        "held_out": {"pairs": 6, "in_train": 0},
    }


def test_pairs_that_are_tested_on_and_trained_on_are_counted(tmp_path):
    twice = NUMBERED | {"train": [*NUMBERED["train"], *NUMBERED["test"][:2], NUMBERED["valid"][0]]}
    twice["valid"] = [*NUMBERED["valid"], NUMBERED["valid"][0]]
    _, report = run(tmp_path, put(tmp_path / "in", twice))
    assert report["held_out"] == {"pairs": 7, "in_train": 4}
    manifest = report | {"pairs": {split: len(pairs) for split, pairs in twice.items()}}
    assert "4 of 7 pairs of valid and test are in train, too" in told(manifest, load_task("translation"))


def test_files_of_one_name_are_all_recorded(tmp_path):
    (tmp_path / "in").mkdir()
    for name in ("a", "b"):
        put(tmp_path / "in" / name)
    splits = {
        split: [{"source": f"{name}/{split}.de", "target": f"{name}/{split}.en"} for name in names]
        for split, names in {"train": ("a", "b"), "valid": ("a",), "test": ("a",)}.items()
    }
    _, report = run(tmp_path, tmp_path / "in", splits=splits)
    assert {key for key in report["sources"] if "train" in key} == {
        f"{name}/train.{language}" for name in ("a", "b") for language in ("de", "en")
    }
    assert {source["address"] for source in report["sources"].values()} >= {
        str(tmp_path / "in" / name / "train.de") for name in ("a", "b")
    }


def test_an_archive_is_as_good_as_a_folder(tmp_path):
    folder = put(tmp_path / "in")
    with tarfile.open(tmp_path / "in.tar.xz", "w:xz") as archive:
        archive.add(folder, "in")
    from_folder, _ = run(tmp_path, folder)
    assert run(tmp_path, tmp_path / "in.tar.xz")[0] == from_folder


def test_text_that_is_tokenised_stays_as_it_is(tmp_path):
    folder = put(tmp_path / "in", NUMBERED | {"train": [("a&apos;b  c.", "It 's")]})
    assert run(tmp_path, folder, tokenizer="none")[0]["train"] == [("a&apos;b  c.", "It 's")]


def test_every_so_many_th_kept_pair_is_held_out(tmp_path):
    pairs = [
        (f"Satz {number}", f"Sentence {number}" if number != 2 else "far too many words") for number in range(1, 11)
    ]
    splits = {"train": [{"source": "train.de", "target": "train.en"}], "valid": [], "test": OPTIONS["splits"]["test"]}
    folder = put(tmp_path / "in", NUMBERED | {"train": pairs})
    text, report = run(
        tmp_path, folder, splits=splits, hold_out=3, pair_filter={"max_ratio": 1.5, "min_tokens": 1, "max_tokens": 175}
    )
    assert [source for source, _ in text["valid"]] == ["Satz 4", "Satz 7", "Satz 10"]
    assert len(text["train"]) == 6
    assert report["steps"]["train"] == {"read": 10, "left_out": {"ratio above 1.5": 1}, "kept": 6}
    assert report["steps"]["valid"] == {"read": 0, "left_out": {}, "kept": 3}


def test_duplicates_go_where_that_is_wanted(tmp_path):
    folder = put(
        tmp_path / "in", NUMBERED | {"train": [("Ja.", "Yes."), ("Nein.", "No."), ("Ja.", "Yes."), ("Ja.", "No.")]}
    )
    assert len(run(tmp_path, folder)[0]["train"]) == 4
    text, report = run(tmp_path, folder, drop_duplicates=True)
    assert text["train"] == [("Ja .", "Yes ."), ("Nein .", "No ."), ("Ja .", "No .")]
    assert report["steps"]["train"]["left_out"] == {"duplicate": 1}


BAD = [
    (b"a\n\nc\n", r"train\.de:2: empty line", "empty line"),
    (b"a\nb\x00\nc\n", r"train\.de:2: control character U\+0000", "control character U+0000"),
    (b"a\nb\rb\nc\n", r"train\.de:2: control character U\+000D", "control character U+000D"),
    ("a\nb\u202e\nc\n".encode(), r"train\.de:2: bidirectional mark U\+202E", "bidirectional mark U+202E"),
    (b"a\n" + b"b " * 50_000 + b"\nc\n", r"train\.de:2: 100,000 characters", "100,000 characters in a line"),
    (b"a\nb\xff\nc\n", r"train\.de:2: not UTF-8", "not UTF-8"),
]


@pytest.mark.parametrize(("content", "message", "reason"), BAD)
def test_a_bad_line_is_refused_or_dropped(tmp_path, content, message, reason):
    folder = put(tmp_path / "in")
    (folder / "train.de").write_bytes(content)
    with pytest.raises(UserError, match=message):
        run(tmp_path, folder)
    text, report = run(tmp_path, folder, bad_lines="drop")
    assert text["train"] == [("a", "Sentence 1 , train ."), ("c", "Sentence 3 , train .")]
    assert report["steps"]["train"] == {"read": 3, "left_out": {reason: 1}, "kept": 2}


def test_nothing_is_ever_dropped_from_what_is_tested_on(tmp_path):
    folder = put(tmp_path / "in")
    (folder / "test.de").write_bytes(b"a\n\nc\n")
    assert run(tmp_path, folder, bad_lines="drop")[0]["test"][1] == ("", "Sentence 2 , test .")
    (folder / "test.de").write_bytes(b"a\n\xff\nc\n")
    with pytest.raises(UserError, match=r"test\.de:2: not UTF-8"):
        run(tmp_path, folder, bad_lines="drop")


def test_what_windows_left_is_taken_away_and_told(tmp_path):
    folder = put(tmp_path / "in", encode=lambda line: line.replace("\n", "\r\n").encode())
    (folder / "valid.en").write_bytes("\ufeffone\ntwo\nthree\n".encode())
    text, report = run(tmp_path, folder)
    assert text["train"][0] == ("Satz 1 , train .", "Sentence 1 , train .")
    assert text["valid"][0][1] == "one"
    assert report["mended"][f"{folder / 'train.de'}: carriage return at the end of a line removed"] == 3
    assert report["mended"][f"{folder / 'valid.en'}: byte order mark removed"] == 1


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("valid.de", b"a\nb\n", r"valid\.de has 2 lines, .*valid\.en has 3: they must be parallel"),
        ("train.en", b"", r"train\.en: empty"),
        ("train.en", None, r"train\.en: no such file"),
        ("test.de", gzip.compress(b"a\nb\nc\n", mtime=0)[:-9], r"test\.de: damaged or truncated"),
    ],
)
def test_faults_of_files_are_found_before_any_work(tmp_path, name, content, message):
    folder = put(tmp_path / "in")
    (folder / name).unlink() if content is None else (folder / name).write_bytes(content)
    with pytest.raises(UserError, match=message):
        run(tmp_path, folder)
    assert not list((tmp_path / "out").iterdir())


def test_a_split_that_is_empty_or_filtered_away_is_refused(tmp_path):
    folder = put(tmp_path / "in", NUMBERED | {"train": [("eins", "one two three")]})
    with pytest.raises(UserError, match="train: no sentence pair is left"):
        run(tmp_path, folder, pair_filter={"max_ratio": 1.5})
    for language in ("de", "en"):
        (folder / f"test.{language}").write_bytes(b"")
    with pytest.raises(UserError, match=r"test\.de: empty"):
        run(tmp_path, folder)


def test_what_is_not_the_known_corpus_is_refused(tmp_path):
    folder = put(tmp_path / "in")
    with pytest.raises(
        UserError, match=r"this differs from Multi30k De-En: train has 3 pairs, not 29,000; valid has 3"
    ):
        run(tmp_path, folder, known_as="multi30k")
    with pytest.raises(UserError, match=r"this differs from WMT14 En-De: valid has 3 pairs, not 3,000; test has"):
        run(tmp_path, folder, part_of="wmt14")


@pytest.mark.parametrize(
    ("option", "value", "message"),
    [
        ("part_of", "wmt15", r"part_of=wmt15: must be one of null, iwslt14, wmt14, multi30k"),
        ("tokenizer", "mosses", r"tokenizer=mosses: must be one of moses, none"),
        ("bad_lines", "ignore", r"bad_lines=ignore: must be one of refuse, drop, keep"),
        ("hold_out", 1, r"hold_out=1: must be at least 2"),
        ("pair_filter", {"max_rato": 1}, r"pair_filter\.max_rato: no such option; did you mean max_ratio"),
        ("pair_filter", {"max_ratio": "x"}, r"pair_filter\.max_ratio=x: must be a number"),
    ],
)
def test_options_that_cannot_be_are_refused(tmp_path, option, value, message):
    with pytest.raises(UserError, match=message):
        run(tmp_path, put(tmp_path / "in"), **{option: value})


def twice(items):
    return [item for item in items for _ in range(2)]


sentence = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\n"), max_size=30)
pairs = st.lists(st.tuples(sentence, sentence), min_size=1, max_size=30)


@settings(max_examples=60)
@given(train=pairs, hold_out=st.none() | st.integers(2, 5), duplicates=st.booleans())
def test_counts_add_up_and_sides_stay_aligned(tmp_path_factory, train, hold_out, duplicates):
    tmp_path = tmp_path_factory.mktemp("parallel")
    # every number twice, so that there are duplicates to drop
    numbered = [
        (f"x{number // 2} {source}", f"x{number // 2} {target}") for number, (source, target) in enumerate(twice(train))
    ]
    folder = put(tmp_path / "in", NUMBERED | {"train": [("x", "x"), *numbered]})
    options = {
        "hold_out": hold_out, "drop_duplicates": duplicates, "bad_lines": "drop",
        "pair_filter": {"min_tokens": 1, "max_tokens": 10, "max_ratio": 3},
    }  # fmt: skip
    text, report = run(tmp_path, folder, **options)
    steps = report["steps"]
    assert steps["train"]["read"] == 2 * len(train) + 1
    held_out = steps["valid"]["kept"] - steps["valid"]["read"]
    assert steps["train"]["read"] == sum(steps["train"]["left_out"].values()) + steps["train"]["kept"] + held_out
    assert {split: len(text[split]) for split in SPLITS} == {split: steps[split]["kept"] for split in SPLITS}
    if duplicates:
        assert len(set(text["train"] + text["valid"])) == len(text["train"] + text["valid"])
    for source, target in text["train"]:
        assert source.split()[0] == target.split()[0], "a line has met another one's translation"
    assert run(tmp_path, folder, **options) == (text, report), "not deterministic"


def test_many_processes_give_what_one_gives(tmp_path, monkeypatch):
    monkeypatch.setattr("lnexp.corpora.preprocessing.CHUNK", 7)
    many = [(f"Satz {number}, ja.", f"Sentence {number}, yes.") for number in range(100)]
    folder = put(tmp_path / "in", NUMBERED | {"train": many})
    assert run(tmp_path, folder, cores=2) == run(tmp_path, folder, cores=1)
    (folder / "train.de").write_bytes(b"ja\n" * 93 + b"n\xff\n" + b"ja\n" * 6)
    with pytest.raises(UserError, match=r"train\.de:94: not UTF-8"):
        run(tmp_path, folder, cores=2)
