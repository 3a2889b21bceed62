"""The embedded corpus depends on its seed alone; its splits are disjoint and parallel."""

import itertools
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lnexp.corpora import toy, toy_lexicon, toy_paraphrases
from lnexp.corpora.context import PreparationContext
from lnexp.corpora.text import read_lines
from lnexp.errors import UserError

SIZES = {"train_pairs": 300, "valid_pairs": 40, "test_pairs": 30}


def write(folder, seed=0, **sizes):
    folder.mkdir()
    toy.write(folder, PreparationContext(folder), seed=seed, **{**SIZES, **sizes})
    return {
        split: list(zip(*(read_lines(folder / f"{split}.{language}") for language in ("de", "en")), strict=True))
        for split in ("train", "valid", "test")
    }


def test_same_seed_same_corpus_other_seed_another(tmp_path):
    first, again, other = (write(tmp_path / name, seed) for name, seed in (("a", 5), ("b", 5), ("c", 6)))
    assert first == again
    assert first["train"] != other["train"]


def test_sizes_are_exact(tmp_path):
    assert {split: len(pairs) for split, pairs in write(tmp_path / "a").items()} == {
        "train": 300,
        "valid": 40,
        "test": 30,
    }


def test_held_out_splits_do_not_depend_on_the_size_of_train(tmp_path):
    small, large = write(tmp_path / "a"), write(tmp_path / "b", train_pairs=900)
    assert small["valid"] == large["valid"]
    assert small["test"] == large["test"]


def test_no_sentence_of_either_side_is_in_two_splits_or_twice(tmp_path):
    splits = write(tmp_path / "a", train_pairs=5000)
    for side in (0, 1):
        lines = [pair[side] for pairs in splits.values() for pair in pairs]
        assert len(lines) == len(set(lines))


@settings(max_examples=30)
@given(seed=st.integers(0, 2**32))
def test_content_words_correspond(seed):
    for pair in itertools.islice(toy.sentences(seed), 20):
        assert toy.MIN_TOKENS <= len(pair.german) <= toy.MAX_TOKENS
        assert toy.MIN_TOKENS <= len(pair.english) <= toy.MAX_TOKENS
        for german, english in pair.alignment:
            assert set(german) <= set(pair.german), pair
            assert set(english) <= set(pair.english), pair


@settings(max_examples=30)
@given(seed=st.integers(0, 2**32))
def test_every_german_noun_has_its_english_one(seed):
    forms = {}
    for noun in (*toy_lexicon.ANIMATE, *toy_lexicon.THINGS):
        for german, english in ((noun.german, noun.english), (noun.german_plural, noun.english_plural)):
            forms.setdefault(german, set()).add(english)
            forms.setdefault(german + "n", set()).add(english)  # the dative plural
    for pair in itertools.islice(toy.sentences(seed), 20):
        text = " ".join(pair.english)
        for word in pair.german:
            if word[0].isupper():
                assert any(english in text for english in forms[word]), pair


def test_grammar_by_example():
    """One sentence of each construction, as a reader of German would check them."""
    corpus = {" ".join(s.german): " ".join(s.english) for s in itertools.islice(toy.sentences(0), 40_000)}
    separable = next(german for german in corpus if german.startswith("ich rufe ") and german.endswith(" an ."))
    assert corpus[separable].startswith("I call ")
    verb_final = next(
        german for german in corpus if german.startswith("ich glaube , dass ") and german.endswith(" anruft .")
    )
    assert " calls" in corpus[verb_final] or "not call " in corpus[verb_final]
    perfect = next(german for german in corpus if german.startswith("sie hat ") and german.endswith(" gesehen ."))
    assert corpus[perfect].startswith("she saw ") or corpus[perfect].startswith("she did not see ")
    inverted = next(german for german in corpus if german.startswith("heute muss er "))
    assert corpus[inverted].startswith("today he ")
    assert any(" den Pferden " in german for german in corpus), "dative plural"
    english = " ".join(corpus.values())
    assert " an old " in english
    assert not re.search(r" a [aeiou]| an [^aeiou]", english)


@pytest.mark.parametrize("split", ["train_pairs", "valid_pairs", "test_pairs"])
def test_an_empty_split_is_refused(tmp_path, split):
    with pytest.raises(UserError, match=split):
        toy.write(tmp_path, PreparationContext(tmp_path), seed=0, **{**SIZES, split: 0})


@pytest.mark.parametrize("write", [toy.write, toy_paraphrases.write])
def test_a_split_that_nobody_waits_for_is_refused(tmp_path, write):
    with pytest.raises(UserError, match=r"train_pairs=1000000000000: must be at most 1000000"):
        write(tmp_path, PreparationContext(tmp_path), seed=0, **{**SIZES, "train_pairs": 10**12})
